/// Filled by the next changes.
