import CoreData
import Foundation

/// A context's graph as text: what is equal reads equal, in any context.
///
/// Objects are told apart by their names, titles or labels.
enum GraphPicture {
    static func text(of context: NSManagedObjectContext) -> String {
        var lines: [String] = []
        for entity in ["Author", "Book", "Chapter", "Tag", "Shelf", "Person", "Club"] {
            for object in (try? context.all(entity)) ?? [] {
                let properties = object.entity.propertiesByName.values.filter { !$0.isTransient }.map(\.name).sorted()
                    .map { "\($0): \(text(object.value(forKey: $0)))" }
                lines.append("\(entity) {\(properties.joined(separator: ", "))}")
            }
        }
        return lines.sorted().joined(separator: "\n")
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case let object as NSManagedObject: name(object)
        case let ordered as NSOrderedSet:
            "[" + ordered.compactMap { ($0 as? NSManagedObject).map { name($0) } }.joined(separator: ",") + "]"
        case let members as Set<NSManagedObject>: "{" + members.map { name($0) }.sorted().joined(separator: ",") + "}"
        default: value.map { "\($0)" } ?? "nil"
        }
    }

    private static func name(_ object: NSManagedObject) -> String {
        let key = ["name", "title", "label"].first { object.entity.attributesByName[$0] != nil } ?? "name"
        return "\(object.entity.name ?? "") \(object.text(key))"
    }
}
