"""Keep the most frequent words of one side of the training text, learn subword units, or take a model's vocabulary."""

from job import job

with job(snakemake) as (inputs, outputs):
    from nmt.data.vocabulary import Vocabulary, build_vocabulary
    from nmt.errors import UserError
    from nmt.io.files import copy_file
    from pipeline.preparation import read_word_counts

    settings = snakemake.params.settings
    if inputs.initial_model:
        (file,) = inputs.initial_model
        if Vocabulary.read(file).has_subwords != settings["subwords"]:
            raise UserError(
                f"{file}: expected `vocabulary.subwords: {str(not settings['subwords']).lower()}`"
            )
        copy_file(file, outputs.vocabulary)
    else:
        build_vocabulary(read_word_counts(inputs.words), **settings, output=outputs.vocabulary)
