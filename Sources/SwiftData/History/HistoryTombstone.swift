/// The preserved values of a deleted model: those of attributes with `.preserveValueOnDeletion`.
///
///     @Attribute(.preserveValueOnDeletion) var code: String
///     // later, of a deletion:
///     let code = delete.tombstone[\.code] as? String
public struct HistoryTombstone<Model: PersistentModel>: Sequence, @unchecked Sendable {
    // Safe because the values were decoded for this tombstone, and nothing changes them.
    public typealias Element = Any

    let values: [(name: String, value: Any)]

    init(_ values: [(name: String, value: Any)]) { self.values = values }

    /// The kept value of an attribute; `nil` for an attribute that is not kept, or had no value.
    public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
        guard let name = ModelLayout.of(Model.self).name(of: keyPath),
            let value = values.first(where: { $0.name == name })?.value
        else { return nil }
        return unsafeSendable(value)
    }

    public func makeIterator() -> Iterator { Iterator(values.map(\.value)) }

    /// The kept values, in the order of the class's properties.
    public struct Iterator: IteratorProtocol {
        private var values: IndexingIterator<[Any]>

        init(_ values: [Any]) { self.values = values.makeIterator() }

        public mutating func next() -> Any? { values.next() }
    }
}

/// The value as one that can be sent: `Sendable` has no representation of its own. With `as Any` the value is passed in
/// its box.
private func unsafeSendable(_ value: Any) -> any Sendable { unsafeBitCast(value as Any, to: (any Sendable).self) }
