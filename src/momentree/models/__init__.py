"""Models: flat latent variable models as scikit-learn estimators."""
