/// Runs the body of an observer of a persisted property.
///
/// Used by the expansion of `@Model`.
@inlinable
public func _observe<Value>(_ value: Value, _ body: (Value) -> Void) { body(value) }

/// Returns a value of the type of another one, which the expansion of a property's observers cannot name.
///
/// Used by the expansion of `@Model`.
@inlinable
public func _value<Value>(_ value: Value, like other: Value) -> Value { value }
