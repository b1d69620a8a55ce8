"""Replication packages, their record and verification."""
