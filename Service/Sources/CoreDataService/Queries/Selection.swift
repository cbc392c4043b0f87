/// The properties of objects that an answer contains: `fields=name,unit.name&include=unit`.
///
/// Without fields an object has its attributes and the IDs of its to-one relationships. A relationship in `include` is
/// answered as a whole object in the place of its ID.
package struct Selection: Sendable {
    package let entity: ServedEntity
    /// The names of the properties; `nil` for the default.
    package private(set) var fields: Set<String>?
    /// The relationships whose objects are answered as a whole.
    package private(set) var includes: [String: Selection] = [:]

    package static let maximumDepth = 2
    package static let maximumIncludes = 10

    package init(_ entity: ServedEntity) { self.entity = entity }

    package init(
        fields: String?, include: String?, of entity: ServedEntity, in model: ServedModel
    ) throws(Problem) {
        self.init(entity)
        var count = 0
        for path in Self.list(include) {
            count += 1
            guard count <= Self.maximumIncludes else {
                throw .query("include has more than \(Self.maximumIncludes) paths")
            }
            try add(path, "include", in: model) { _ in }
        }
        guard let fields else { return }
        var all: Set<String> = []
        for path in Self.list(fields) {
            guard let last = path.last else { continue }
            if path.count == 1 {
                try check(last)
                all.insert(last)
            } else {
                all.insert(path[0])
                try add(Array(path.dropLast()), "fields", in: model) { selection throws(Problem) in
                    try selection.check(last)
                    selection.fields = (selection.fields ?? []).union([last])
                }
            }
        }
        self.fields = all
    }

    private static func list(_ text: String?) -> [[String]] {
        (text ?? "").split(separator: ",").map {
            $0.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        }
    }

    private func check(_ name: String) throws(Problem) {
        guard entity[property: name] != nil || name.hasPrefix("_") else {
            throw .query(
                "\(entity.name) has no property '\(name.prefix(80))'; it has: "
                    + entity.properties.map(\.name).joined(separator: ", "), property: nil)
        }
    }

    private mutating func add(
        _ path: [String], _ parameter: String, in model: ServedModel, depth: Int = 1,
        _ change: (inout Selection) throws(Problem) -> Void
    ) throws(Problem) {
        guard let name = path.first else { return }
        guard depth <= Self.maximumDepth else {
            throw .query("\(parameter): at most \(Self.maximumDepth) relationships follow each other")
        }
        guard let relationship = entity[property: name]?.relationship,
            let destination = model.entities[relationship.destination]
        else {
            throw .query(
                "\(parameter): \(entity.name) has no relationship '\(name.prefix(80))'; it has: "
                    + entity.properties.compactMap(\.relationship?.name).joined(separator: ", "))
        }
        var inner = includes[name] ?? Selection(destination)
        if path.count == 1 {
            try change(&inner)
        } else {
            try inner.add(Array(path.dropFirst()), parameter, in: model, depth: depth + 1, change)
        }
        includes[name] = inner
    }

    /// Whether an object has the property.
    package func contains(_ property: ServedProperty) -> Bool {
        if includes[property.name] != nil { return true }
        if let fields { return fields.contains(property.name) }
        switch property {
        case .attribute: return true
        case .relationship(let relationship): return !relationship.isToMany
        }
    }

    /// The key paths of relationships that are read for all objects at once.
    package var prefetchedKeyPaths: [String] {
        var paths: [String] = []
        for property in entity.properties {
            guard case .relationship(let relationship) = property, contains(property) else { continue }
            paths.append(relationship.name)
            if let inner = includes[relationship.name] {
                paths += inner.prefetchedKeyPaths.map { "\(relationship.name).\($0)" }
            }
        }
        return paths
    }
}
