import CoreData
import CoreDataStoreTools
import CoreDataToolkit

/// A field of an entity's records: its name, and the function that reads its value.
struct ExportColumn {
    let name: String
    /// The relationship to prefetch for many objects.
    let prefetched: String?
    let read: (NSManagedObject) -> CellValue

    init(_ name: String, prefetched: String? = nil, read: @escaping (NSManagedObject) -> CellValue) {
        self.name = name
        self.prefetched = prefetched
        self.read = read
    }

    /// Makes a column for a key path; its value is a list if the path contains a to-many.
    static func path(_ text: String, of entity: NSEntityDescription) throws -> ExportColumn {
        let path = try PropertyPath(text, of: entity)
        return ExportColumn(path.text, prefetched: ObjectPrinter.prefetched([path]).first) {
            path.cell(of: $0, showsMembers: true, isExact: true)
        }
    }

    /// Makes a column with the IDs of a relationship's objects.
    ///
    /// - Parameter isFlat: whether several IDs are one text, separated by blanks.
    static func reference(_ relationship: NSRelationshipDescription, isFlat: Bool) -> ExportColumn {
        let name = relationship.name
        guard relationship.isToMany else {
            // Do not read the destination object: its ID suffices.
            return ExportColumn(name) { object in
                (object.value(forKey: name) as? NSManagedObject).map(PropertyPath.reference) ?? .null
            }
        }
        return ExportColumn(name, prefetched: name) { object in
            let members = PropertyPath.members(of: object, relationship).map(PropertyPath.reference)
            guard isFlat else { return .list(members) }
            return members.isEmpty ? .null : .text(members.compactMap(\.text).joined(separator: " "))
        }
    }

    /// Makes a column with nested objects for a relationship, which contain these attributes.
    static func nested(_ relationship: NSRelationshipDescription, _ names: [String]) throws -> ExportColumn {
        guard let destination = relationship.destinationEntity else { return ExportColumn("") { _ in .null } }
        let paths = try names.map { try PropertyPath($0, of: destination) }
        func nested(_ object: NSManagedObject) -> CellValue {
            .object(paths.map { .init(name: $0.text, value: $0.cell(of: object, showsMembers: true, isExact: true)) })
        }
        let name = relationship.name
        return ExportColumn(name, prefetched: name) { object in
            if relationship.isToMany { return .list(PropertyPath.members(of: object, relationship).map(nested)) }
            return (object.value(forKey: name) as? NSManagedObject).map(nested) ?? .null
        }
    }
}
