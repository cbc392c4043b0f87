import CoreDataModel
import CoreDataPredicate
import CoreDataStore
import Foundation

/// The objects besides its own that a request depends on: with `author.name` in the predicate, a book's row depends on
/// its author.
///
/// The inverse relationship finds the books of a changed author. If a relationship has no inverse, the rows that depend
/// on an object are not known, and all rows are fetched again.
struct FetchedDependencies {
    /// Which objects matter, and how they lead back: the inverse of each relationship on the way, the last first.
    private struct Dependency {
        let destination: CompiledEntity
        /// `nil` if a relationship has no inverse.
        let back: [Int]?
        /// Whether the object's own row contains its owner: after the row was replaced, the former owner is not known.
        let isMember: Bool
    }

    private var dependencies: [Dependency] = []

    init(_ translation: FetchTranslation, sectionPath: String?, in model: ModelRuntime) {
        var paths = PathCollector()
        if let predicate = translation.request.predicate?.node { paths.visit(predicate) }
        var keyPaths = paths.paths + translation.sorts.map(\.keyPath)
        if let sectionPath { keyPaths.append(sectionPath.split(separator: ".").map(String.init)) }
        var known: Set<[String]> = []
        for path in keyPaths {
            // `books.@sum.pages` depends on the pages of books.
            let keys = path.filter { !$0.hasPrefix("@") }
            var entity = translation.entity
            var back: [Int]? = []
            for (index, key) in keys.enumerated() {
                guard let slot = entity.slot(forKey: key), let relationship = entity.slots[slot].relationship else {
                    break
                }
                let isToMany = entity.slots[slot].isToMany
                // The owner knows the destination of a to-one at the end of the path. Only the members may know the
                // owner of a to-many.
                if index == keys.count - 1, !isToMany { break }
                entity = model.entities[relationship.destination]
                back = relationship.inverseSlot.flatMap { inverse in back.map { [inverse] + $0 } }
                if known.insert(Array(keys[...index])).inserted {
                    let isMember = isToMany && relationship.inverseSlot.map { !entity.slots[$0].isToMany } ?? true
                    dependencies.append(Dependency(destination: entity.compiled, back: back, isMember: isMember))
                }
            }
        }
    }

    var isEmpty: Bool { dependencies.isEmpty }

    /// Whether rows may depend on objects of the entity.
    func include(_ entity: EntityRuntime) -> Bool {
        dependencies.contains { $0.destination.subtree.contains(entity.ordinal) }
    }

    /// Returns whether rows may depend on the former owner of a changed object of the entity.
    func includeMembers(_ entity: EntityRuntime) -> Bool {
        dependencies.contains { $0.isMember && $0.destination.subtree.contains(entity.ordinal) }
    }

    /// Returns the objects whose rows depend on this one; `nil` if they are not known.
    func owners(of object: NSManagedObject) -> [NSManagedObject]? {
        var owners: [NSManagedObject] = []
        for dependency in dependencies where dependency.destination.subtree.contains(object.runtime.ordinal) {
            guard let back = dependency.back else { return nil }
            var level = [object]
            for slot in back {
                level = level.flatMap { object -> [NSManagedObject] in
                    guard object.registry != nil, !object.flags.contains(.inaccessible) else { return [] }
                    guard object.runtime.slots[slot].isToMany else { return object.toOne(slot).map { [$0] } ?? [] }
                    return object.knownMembers(slot).members
                }
            }
            owners += level
        }
        return owners
    }
}

/// The key paths in a predicate, from the object that it is about.
private struct PathCollector {
    private(set) var paths: [[String]] = []
    private var variables: [String: [String]] = [:]

    mutating func visit(_ node: PredicateNode) { node.forEachSide { visit($0) } }

    private mutating func visit(_ expression: ExpressionNode) {
        if case .keyPath = expression, let path = path(of: expression) { paths.append(path) }
        for part in expression.parts { visit(part) }
        guard let predicate = expression.ownPredicate else { return }
        guard case .subquery(let collection, let variable, _) = expression else { return visit(predicate) }
        let outer = variables[variable]
        variables[variable] = path(of: collection)
        visit(predicate)
        variables[variable] = outer
    }

    /// Returns the path from the object; `nil` for an expression that does not begin there.
    private func path(of expression: ExpressionNode) -> [String]? {
        switch expression {
        case .evaluatedObject: []
        case .variable(let name): variables[name]
        case .keyPath(let operand, let keys):
            path(of: operand).map { $0 + keys.filter { $0 != "self" && $0 != "SELF" } }
        // An element of a collection depends on the whole collection.
        case .function(_, let arguments): arguments.first.flatMap(path)
        case .subquery(let collection, _, _): path(of: collection)
        default: nil
        }
    }
}
