import CoreData
import CoreDataToolkit

/// A field of the records of an entity: its name, and its value in an object.
struct ExportColumn {
    let name: String
    /// The relationship to read with many objects at once.
    let prefetched: String?
    let read: (NSManagedObject) -> CellValue

    init(_ name: String, prefetched: String? = nil, read: @escaping (NSManagedObject) -> CellValue) {
        self.name = name
        self.prefetched = prefetched
        self.read = read
    }

    /// The value at the end of a key path; a list where that goes through a to-many.
    static func path(_ text: String, of entity: NSEntityDescription) throws -> ExportColumn {
        let path = try PropertyPath(text, of: entity)
        return ExportColumn(path.text, prefetched: ObjectPrinter.prefetched([path]).first) {
            path.cell(of: $0, showsMembers: true, isExact: true)
        }
    }

    /// The IDs of what the relationship leads to.
    ///
    /// - Parameter isFlat: whether several stand in one text, with blanks between them.
    static func reference(_ relationship: NSRelationshipDescription, isFlat: Bool) -> ExportColumn {
        let name = relationship.name
        guard relationship.isToMany else {
            // The object that is pointed to need not be read.
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

    /// An object for each object that the relationship leads to, with these of its attributes.
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
