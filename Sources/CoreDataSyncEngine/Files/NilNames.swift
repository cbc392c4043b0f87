/// The values of new objects that are nil where their states do not name them, by entity.
///
/// A segment does not write a value that is nil in a new object. A device with the writer's model knows these values
/// all the same; a device with another version of the model does not know which ones the writer had.
///
///     segment.nilNames["Item"] = ["name", "unit"]
///     let state = segment.states[0].completed(segment.nilNames)      // unit: nil, with the stamp of its creation
package struct NilNames: Hashable, Sendable {
    /// The names of properties, by entity; each list is sorted and has no name twice.
    private var names: [String: [String]] = [:]

    /// The most names of one entity. A short list could otherwise stand for many values in each of many states.
    package static let limit = 1_024

    package init() {}

    package var isEmpty: Bool { names.isEmpty }

    /// The names of an entity's properties; `nil` where the writer does not tell. A list that is too long is left out.
    package subscript(entity: String) -> [String]? {
        get { names[entity] }
        set {
            names[entity] = newValue.flatMap { list in
                let sorted = Set(list).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                return sorted.count > Self.limit ? nil : sorted
            }
        }
    }
}

extension ObjectState {
    /// The state of a new object with the values that its segment leaves out, which are nil.
    package func completed(_ nilNames: NilNames) -> Self {
        guard let created, let names = nilNames[entity.name] else { return self }
        var result = self
        for name in names where result.properties[name] == nil { result.properties[name] = .last(created, .null) }
        return result
    }
}

// MARK: Bytes

// count, (entity's number, count, numbers of names)…: entities by their names, names by theirs.
extension NilNames {
    func write(to writer: inout ByteWriter, _ table: inout NameTable) {
        writer.varint(names.count)
        for (entity, list) in names.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            writer.varint(table.number(of: entity))
            writer.varint(list.count)
            for name in list { writer.varint(table.number(of: name)) }
        }
    }

    init(from reader: inout ByteReader, _ table: NameTable) throws(FileFault) {
        func name() throws(FileFault) -> String {
            table.names[try reader.number(below: table.names.count, "the number of a name")]
        }
        for _ in 0..<(try reader.count(ofSize: 2)) {
            let entity = try name()
            let count = try reader.count()
            guard count <= Self.limit else { throw reader.fault("an entity has \(count) values that are nil") }
            var list: [String] = []
            list.reserveCapacity(count)
            for _ in 0..<count { list.append(try name()) }
            guard names[entity] == nil else { throw reader.fault("the values of “\(entity)” are there twice") }
            self[entity] = list
            guard names[entity] == list else { throw reader.fault("names of values are not in order") }
        }
    }
}
