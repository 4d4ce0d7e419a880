"""Parameters: decomposed moments in, valid model parameters out."""

from momentree.parameters.simplex import project_to_simplex, topic_parameters

__all__ = ["project_to_simplex", "topic_parameters"]
