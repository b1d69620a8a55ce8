"""Replication packages, their record and verification, model cards and archives."""
