import CoreDataStore
import Foundation
@_spi(Reflection) import Swift

/// The stored properties of a ``FetchedRow``, with their key paths and positions in memory.
struct RowProperties {
    private struct Leaf {
        let keyPath: String
        let type: any FetchedValue.Type
        let offset: Int
    }

    private struct Branch {
        let keyPath: String
        let type: any FetchedRow.Type
        let offset: Int
        let properties: RowProperties
    }

    private let typeName: String
    private var leaves: [Leaf] = []
    /// The rows that may be nil; other rows are their leaves.
    private var branches: [Branch] = []

    /// - Throws: an error that names the property that no column can be read as.
    init(of type: any FetchedRow.Type) throws { try self.init(of: type, prefix: "") }

    private init(of type: any FetchedRow.Type, prefix: String) throws {
        typeName = String(describing: type)
        try add(type, prefix: prefix, at: 0)
    }

    private mutating func add(
        _ type: any FetchedRow.Type, prefix: String, at start: Int
    ) throws {
        var fields: [(name: String, offset: Int, type: Any.Type)] = []
        // Without options of structs and tuples only.
        let isStruct = _forEachField(of: type, options: []) { name, offset, type, _ in
            fields.append((String(cString: name), offset, type))
            return true
        }
        guard isStruct, !fields.isEmpty else {
            throw CoreDataErrors.invalidRequest(
                "\(type) is no struct with stored properties that are known when the program runs: it cannot be a FetchedRow."
            )
        }
        let keyPaths = type.fetchedKeyPaths
        if let unknown = keyPaths.keys.sorted().first(where: { key in !fields.contains { $0.name == key } }) {
            throw CoreDataErrors.invalidRequest(
                "\(type).fetchedKeyPaths has '\(unknown)', which is no stored property: they are "
                    + fields.map(\.name).joined(separator: ", ") + ".")
        }
        for field in fields {
            try add(
                field.type, prefix + (keyPaths[field.name] ?? field.name), start + field.offset,
                "'\(field.name)' of \(type)")
        }
    }

    private mutating func add(
        _ type: Any.Type, _ keyPath: String, _ offset: Int, _ description: String
    ) throws {
        if let value = type as? any FetchedValue.Type {
            return leaves.append(Leaf(keyPath: keyPath, type: value, offset: offset))
        }
        if let row = type as? any FetchedRow.Type {
            return try add(row, prefix: keyPath + ".", at: offset)
        }
        guard let wrapped = (type as? any OptionalValue.Type)?.wrappedType, let row = wrapped as? any FetchedRow.Type
        else {
            throw CoreDataErrors.invalidRequest(
                "The stored property \(description) is of the type \(type), as which no column can be read: it is to be a FetchedValue, or "
                    + "a FetchedRow for what a to-one relationship leads to.")
        }
        let properties = try RowProperties(of: row, prefix: keyPath + ".")
        branches.append(Branch(keyPath: keyPath, type: row, offset: offset, properties: properties))
    }

    /// The key paths of all columns; of branches, too, which say whether there is anything.
    var keyPaths: [String] {
        var all = leaves.map(\.keyPath)
        for branch in branches { all += [branch.keyPath] + branch.properties.keyPaths }
        var seen: Set<String> = []
        return all.filter { seen.insert($0).inserted }
    }

    /// Returns how the columns of those names become such rows.
    ///
    /// - Throws: an error that names the property that is none of them.
    func writing(_ columns: [String]) throws -> RowWriting {
        try writing(Dictionary(columns.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first }))
    }

    private func writing(_ columns: [String: Int]) throws -> RowWriting {
        let properties = try leaves.map { leaf in
            guard let column = columns[leaf.keyPath] else {
                throw CoreDataErrors.invalidRequest(
                    "\(typeName): '\(leaf.keyPath)' is none of the columns that are fetched: "
                        + columns.keys.sorted().joined(separator: ", ") + ".")
            }
            return RowWriting.Property(type: leaf.type, column: column, offset: leaf.offset)
        }
        let parts = try branches.map { branch in
            let presence =
                columns[branch.keyPath].map { [$0] } ?? branch.properties.keyPaths.compactMap { columns[$0] }
            return RowWriting.Part(
                type: branch.type, offset: branch.offset, presence: presence,
                writing: try branch.properties.writing(columns))
        }
        return RowWriting(properties, parts: parts, readsNilAsZero: false)
    }
}
