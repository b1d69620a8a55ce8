"""The playground: trained models in one HTML file, made of the files beside this one."""
