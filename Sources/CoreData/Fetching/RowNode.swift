import Foundation

/// The columns below one key path: those of the row, or of a to-one's destination.
final class RowNode: Decoder {
    let row: RowDecoding
    private let prefix: String
    private var columns: [String: Int] = [:]
    private var children: [String: RowNode] = [:]
    let hasChildren: Bool
    /// The available keys, in the order of the columns.
    private var keys: [String] = []
    /// For a child: the column of the to-one's key, which is nil if there is no destination.
    private var presence: Int?
    /// The keys in the order in which they were asked for.
    private var order: [String] = []
    /// For each key its column, and its only byte; -1 if it has none or more.
    private let asked: UnsafeMutablePointer<(column: Int, byte: Int)>
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) private var next = 0
    /// A container, and the type of its keys: the same type asks for one for each row.
    @exclusivity(unchecked) private var container: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var keyType: ObjectIdentifier?
    private var releaseContainer: ((UnsafeMutableRawPointer) -> Void)?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ row: RowDecoding, prefix: String, names: [String]) {
        self.row = row
        self.prefix = prefix
        var columns: [String: Int] = [:]
        var children: [String: RowNode] = [:]
        for (index, name) in names.enumerated() where name.hasPrefix(prefix) {
            let rest = name.dropFirst(prefix.count)
            guard let dot = rest.firstIndex(of: ".") else {
                if columns[String(rest)] == nil, children[String(rest)] == nil { keys.append(String(rest)) }
                columns[String(rest)] = index
                continue
            }
            let key = String(rest[..<dot])
            if columns[key] == nil, children[key] == nil { keys.append(key) }
            if children[key] == nil { children[key] = RowNode(row, prefix: prefix + key + ".", names: names) }
        }
        for (key, child) in children { child.presence = columns[key] }
        self.columns = columns
        self.children = children
        asked = .allocate(capacity: max(columns.count, 1))
        hasChildren = !children.isEmpty
    }

    deinit {
        forgetContainer()
        asked.deallocate()
    }

    /// The container and the node keep each other until then.
    func end() {
        forgetContainer()
        for child in children.values { child.end() }
    }

    private func forgetContainer() {
        guard let container else { return }
        self.container = nil
        keyType = nil
        releaseContainer?(container)
    }

    /// Whether the to-one that leads here leads nowhere.
    var isNil: Bool {
        if let presence { return row.tuple[presence].isNull }
        return columns.values.allSatisfy { row.tuple[$0].isNull } && children.values.allSatisfy(\.isNil)
    }

    /// The keys that are not nil, as in dictionaries.
    var presentKeys: [String] {
        keys.filter { key in
            if let child = children[key] { return !child.isNil }
            return columns[key].map { !row.tuple[$0].isNull } ?? false
        }
    }

    func child(_ name: String) -> RowNode? { children.isEmpty ? nil : children[name] }

    func has(_ name: String) -> Bool { columns[name] != nil || children[name] != nil }

    /// The column of that key.
    @inline(__always)
    func column<Key: CodingKey>(_ key: Key) throws -> Int {
        let byte = Self.byte(of: key)
        if next < count, byte >= 0 ? asked[next].byte == byte : order[next] == key.stringValue {
            next &+= 1
            return asked[next &- 1].column
        }
        return try found(key.stringValue, byte)
    }

    /// Returns a byte that distinguishes a case of an enumeration from the others, without reading its name.
    @inline(__always)
    private static func byte<Key: CodingKey>(of key: Key) -> Int {
        guard MemoryLayout<Key>.size == 1 else { return -1 }
        return withUnsafePointer(to: key) { Int(UnsafeRawPointer($0).load(as: UInt8.self)) }
    }

    private func found(_ name: String, _ byte: Int) throws -> Int {
        guard let column = columns[name] else {
            throw CoreDataErrors.invalidRequest(
                "\(row.typeName): '\(prefix)\(name)' is none of the columns that are fetched: "
                    + columns.keys.sorted().joined(separator: ", ") + ".")
        }
        if let place = order.indices.first(where: { order[$0] == name && asked[$0].byte == byte }) {
            next = place + 1
        } else if count < columns.count {
            (asked + count).initialize(to: (column, byte))
            order.append(name)
            count += 1
            next = count
        }
        return column
    }

    // MARK: Decoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        next = 0
        if keyType == ObjectIdentifier(type), let container {
            return container.assumingMemoryBound(to: KeyedDecodingContainer<Key>.self).pointee
        }
        return make(type)
    }

    private func make<Key: CodingKey>(_ type: Key.Type) -> KeyedDecodingContainer<Key> {
        let made = KeyedDecodingContainer(RowContainer<Key>(node: self))
        // Keys of another type, such as a superclass's, are distinguished by their own bytes.
        (order, count) = ([], 0)
        forgetContainer()
        let place = UnsafeMutablePointer<KeyedDecodingContainer<Key>>.allocate(capacity: 1)
        place.initialize(to: made)
        container = UnsafeMutableRawPointer(place)
        keyType = ObjectIdentifier(type)
        releaseContainer = { container in
            let place = container.assumingMemoryBound(to: KeyedDecodingContainer<Key>.self)
            place.deinitialize(count: 1)
            place.deallocate()
        }
        return made
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw CoreDataErrors.invalidRequest("\(row.typeName): a row has names, and is no list of values.")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw CoreDataErrors.invalidRequest("\(row.typeName): a row has names, and is no single value.")
    }
}
