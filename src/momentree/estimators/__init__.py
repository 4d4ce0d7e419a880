"""What trees and flat models share: one life cycle, texts, batches, names, editing and pages."""

__all__: list[str] = []
