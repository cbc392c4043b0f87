/// A value that crosses an isolation boundary; its sender does not keep it.
struct Transfer<Value>: @unchecked Sendable {
    // Safe because the value does not change any more, or because its sender has released it.
    let value: Value

    init(_ value: Value) { self.value = value }
}
