import CoreData
import CoreDataJSON
import CoreDataPredicate
import Foundation

/// A fetch of dictionaries: aggregates and groups by the service, and columns of single objects by pages.
struct DictionaryQuery: Sendable {
    enum Column: Sendable {
        /// A key path to an attribute or a to-one relationship.
        case path(name: String, ServiceKeyPath)
        /// An aggregate, as the service names it.
        case aggregate(name: String, function: String, AttributeForm)

        var name: String {
            switch self {
            case .path(let name, _), .aggregate(let name, _, _): name
            }
        }
    }

    let columns: [Column]
    /// The keys of the groups.
    let groups: [ServiceKeyPath]
    let entity: ServiceEntity

    /// Whether the service computes the rows.
    var isAggregate: Bool {
        !groups.isEmpty || columns.contains { if case .aggregate = $0 { true } else { false } }
    }

    /// - Throws: an error that names a column which the service cannot compute.
    init(_ request: AnyFetchRequest, _ entity: ServiceEntity, _ model: ServiceModel) throws {
        self.entity = entity
        var columns: [Column] = []
        for property in request.propertiesToFetch ?? [] {
            columns.append(try Self.column(property, entity, model))
        }
        var groups: [ServiceKeyPath] = []
        for property in request.propertiesToGroupBy ?? [] {
            groups.append(try Self.path(Self.name(property), entity, model))
        }
        guard request.havingPredicate == nil else { throw Self.unsupported("a havingPredicate", entity) }
        guard groups.count <= 3, columns.count <= 10 else {
            throw Self.unsupported("more than three groups or ten columns", entity)
        }
        self.columns = columns
        self.groups = groups
        guard isAggregate else { return }
        for column in columns {
            switch column {
            case .aggregate: break
            case .path(_, let path) where groups.contains { $0.keys == path.keys }: break
            default:
                throw Self.unsupported("the column '\(column.name)' beside aggregates without grouping by it", entity)
            }
        }
    }

    static func unsupported(_ what: String, _ entity: ServiceEntity) -> CocoaError {
        ServiceErrors.make(
            CocoaError.featureUnsupported.rawValue,
            """
            The service cannot compute \(what) of \(entity.name). It computes count, sum, min, max and average of \
            attributes, grouped by up to three key paths. Fetch the objects, and compute it from them.
            """)
    }

    // MARK: Columns

    private static func name(_ property: Any) -> String {
        (property as? String) ?? (property as? NSPropertyDescription)?.name ?? "\(property)"
    }

    private static func path(_ name: String, _ entity: ServiceEntity, _ model: ServiceModel) throws -> ServiceKeyPath {
        do throws(ServiceKeyPath.Mistake) {
            let path = try ServiceKeyPath(name.split(separator: ".").map(String.init), of: entity, in: model)
            guard path.collections == 0, path.keys.count <= 3 else {
                throw .init(words: "it passes several objects, or more than two relationships")
            }
            if case .attribute(.largeBytes) = path.end { throw .init(words: "it is a large value") }
            // A dictionary would have a number, which no program can use.
            if case .object = path.end { throw .init(words: "it is an object: ask for the attribute with its ID") }
            return path
        } catch { throw unsupported("'\(name)' (\(error.words))", entity) }
    }

    private static func column(_ property: Any, _ entity: ServiceEntity, _ model: ServiceModel) throws -> Column {
        guard let description = property as? NSExpressionDescription else {
            let name = name(property)
            return .path(name: name, try path(name, entity, model))
        }
        let name = description.name
        switch description.expression?.node {
        case .evaluatedObject?: throw unsupported("the column '\(name)'", entity)
        case .keyPath(.evaluatedObject, let keys)?:
            return .path(name: name, try path(keys.joined(separator: "."), entity, model))
        case .function(let function, let parts)? where parts.count == 1:
            return try aggregate(name, function, parts[0], entity, model)
        default: throw unsupported("the column '\(name)'", entity)
        }
    }

    private static func aggregate(
        _ name: String, _ function: String, _ part: ExpressionNode, _ entity: ServiceEntity, _ model: ServiceModel
    ) throws -> Column {
        let function = function.replacing(":", with: "")
        if function == "count", case .evaluatedObject = part {
            return .aggregate(name: name, function: "count", .integer)
        }
        guard ["count", "sum", "min", "max", "average"].contains(function),
            case .keyPath(.evaluatedObject, let keys) = part
        else { throw unsupported("the column '\(name)'", entity) }
        let path = try path(keys.joined(separator: "."), entity, model)
        let text = "\(function)(\(keys.joined(separator: ".")))"
        if function == "count" { return .aggregate(name: name, function: text, .integer) }
        guard case .attribute(let form) = path.end, form.isComparable,
            form.isNumber || function == "min" || function == "max"
        else { throw unsupported("the column '\(name)'", entity) }
        return .aggregate(name: name, function: text, form.result(of: function))
    }

    // MARK: Aggregates

    /// The parameters of a request for aggregates.
    func parameters(_ clause: WhereClause?) -> ServiceClient.Parameters {
        let functions = columns.compactMap { column in
            if case .aggregate(_, let function, _) = column { function } else { nil }
        }
        var result = clause?.parameters ?? []
        // The service wants an aggregate; groups alone are counted.
        result.append(("aggregate", functions.isEmpty ? "count" : functions.uniqued.joined(separator: ",")))
        if !groups.isEmpty {
            result.append(("group", groups.map { $0.keys.joined(separator: ".") }.joined(separator: ",")))
        }
        return result
    }

    /// The rows of an answer with groups.
    func rows(_ answer: JSONValue) throws(ServiceFailure) -> [NSMutableDictionary] {
        guard let groups = answer["groups"]?.array else { throw .answer("groups are missing") }
        var rows: [NSMutableDictionary] = []
        for group in groups {
            let row = NSMutableDictionary()
            for column in columns {
                switch column {
                case .aggregate(let name, let function, let form):
                    if let value = try form.value(group[function] ?? .null) { row[name] = value }
                case .path(let name, let path):
                    try set(group[path.keys.joined(separator: ".")] ?? .null, path, name, row)
                }
            }
            rows.append(row)
        }
        return rows
    }

    private func set(
        _ json: JSONValue, _ path: ServiceKeyPath, _ name: String, _ row: NSMutableDictionary
    ) throws(ServiceFailure) {
        guard case .attribute(let form) = path.end, let value = try form.value(json) else { return }
        row[name] = value
    }

    // MARK: Rows of objects

    /// The row of an object whose to-ones on the key paths were included.
    func row(of object: RemoteObject) throws(ServiceFailure) -> NSMutableDictionary {
        let row = NSMutableDictionary()
        for case .path(let name, let path) in columns {
            var json = object.members[path.keys[0]] ?? .null
            for key in path.keys.dropFirst() { json = json[key] ?? .null }
            try set(json, path, name, row)
        }
        return row
    }

    /// The to-one relationships on the key paths, which answers must include.
    var includes: [String] {
        columns.compactMap { column in
            guard case .path(_, let path) = column, path.keys.count > 1,
                entity.relationships[path.keys[0]] != nil
            else { return nil }
            return path.keys.dropLast().joined(separator: ".")
        }.uniqued
    }
}

extension Array where Element: Hashable {
    /// The elements without repetitions, in their order.
    var uniqued: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
