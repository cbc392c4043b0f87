import CoreData
import CoreDataJSON
import Foundation

/// Numbers about many objects: `aggregate=count,sum(price),max(day)&group=unit.name`.
package struct Aggregation {
    package enum Function: String, CaseIterable, Sendable {
        case count, sum, min, max, average
    }

    package struct Column {
        /// The name in the answer: `sum(price)`.
        let name: String
        let form: AttributeForm
        let description: NSExpressionDescription
    }

    package struct Group {
        /// The name in the answer, as the client wrote it.
        let name: String
        let path: String
        let form: AttributeForm
    }

    package let columns: [Column]
    package let groups: [Group]
    package static let maximumColumns = 10
    package static let maximumGroups = 1000

    package init(
        _ text: String, group: String?, of entity: ServedEntity, in model: ServedModel
    ) throws(Problem) {
        var columns: [Column] = []
        for part in text.split(separator: ",") {
            columns.append(try Self.column(String(part), columns.count, entity, model))
        }
        guard !columns.isEmpty, columns.count <= Self.maximumColumns else {
            throw .query("aggregate has one to \(Self.maximumColumns) functions")
        }
        guard Set(columns.map(\.name)).count == columns.count else { throw .query("aggregate names a function twice") }
        var groups: [Group] = []
        for name in (group ?? "").split(separator: ",") {
            let path = try Self.path(String(name), "group", entity, model)
            groups.append(Group(name: String(name), path: path.path, form: path.form))
        }
        guard groups.count <= 3 else { throw .query("group has more than 3 keys") }
        self.columns = columns
        self.groups = groups
    }

    private static func path(
        _ name: String, _ parameter: String, _ entity: ServedEntity, _ model: ServedModel
    ) throws(Problem) -> (path: String, form: AttributeForm) {
        let path: ServedKeyPath
        do throws(ServedModel.KeyPathMistake) {
            path = try model.keyPath(
                name.split(separator: ".", omittingEmptySubsequences: false).map(String.init), of: entity)
        } catch { throw .query("\(parameter): \(error.words)") }
        switch path.end {
        case .attribute(let attribute) where path.collections == 0:
            switch attribute.form {
            case .bytes, .largeBytes, .composite: throw .query("\(parameter): '\(name.prefix(80))' cannot be used here")
            default: return (path.text, attribute.form)
            }
        case .object(let entity) where path.keys.count < WhereRules.maximumKeys:
            return ((path.keys + [entity.identity]).joined(separator: "."), .uuid)
        default: throw .query("\(parameter): '\(name.prefix(80))' is not an attribute with one value")
        }
    }

    private static func column(
        _ text: String, _ number: Int, _ entity: ServedEntity, _ model: ServedModel
    ) throws(Problem) -> Column {
        let description = NSExpressionDescription()
        description.name = "c\(number)"
        if text == "count" {
            description.expression = NSExpression(
                forFunction: "count:", arguments: [NSExpression(forKeyPath: entity.identity)])
            description.expressionResultType = .integer64AttributeType
            return Column(name: text, form: .integer(.integers), description: description)
        }
        guard let match = text.wholeMatch(of: /(\w+)\(([^()]+)\)/),
            let function = Function(rawValue: String(match.output.1))
        else {
            throw .query(
                "aggregate: '\(text.prefix(80))' is none of count, sum(…), min(…), max(…), average(…), count(…)")
        }
        let path = try path(String(match.output.2), "aggregate", entity, model)
        let form: AttributeForm
        switch function {
        case .count: form = .integer(.integers)
        case .sum, .average:
            guard path.form.isNumber else { throw .query("aggregate: \(text) needs an attribute with numbers") }
            if function == .average {
                if case .decimal = path.form { form = path.form } else { form = .double }
            } else {
                switch path.form {
                case .integer: form = .integer(.integers)
                case .float: form = .double
                default: form = path.form
                }
            }
        case .min, .max:
            guard path.form.isComparable else { throw .query("aggregate: \(text) needs an attribute with an order") }
            form = path.form
        }
        description.expression = NSExpression(
            forFunction: function.rawValue + ":", arguments: [NSExpression(forKeyPath: path.path)])
        description.expressionResultType = type(of: form)
        return Column(name: text, form: form, description: description)
    }

    private static func type(of form: AttributeForm) -> NSAttributeType {
        switch form {
        case .integer: .integer64AttributeType
        case .decimal: .decimalAttributeType
        case .double: .doubleAttributeType
        case .float: .floatAttributeType
        case .boolean: .booleanAttributeType
        case .date: .dateAttributeType
        case .uuid: .UUIDAttributeType
        case .string, .bytes, .largeBytes, .uri, .composite: .stringAttributeType
        }
    }

    /// Returns the request whose rows are the groups.
    package func request(_ entityName: String, _ predicate: NSPredicate?) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: entityName)
        request.resultType = .dictionaryResultType
        request.predicate = predicate
        request.propertiesToFetch = groups.map(\.path) as [Any] + columns.map(\.description) as [Any]
        if !groups.isEmpty {
            request.propertiesToGroupBy = groups.map(\.path)
            request.sortDescriptors = groups.map { NSSortDescriptor(key: $0.path, ascending: true) }
        }
        request.fetchLimit = Self.maximumGroups + 1
        return request
    }

    package func json(_ rows: [NSDictionary]) -> JSONValue {
        .array(
            rows.map { row in
                var members: [JSONValue.Member] = []
                for group in groups { members.append(.init(group.name, group.form.json(row[group.path]))) }
                for column in columns {
                    members.append(.init(column.name, column.form.json(row[column.description.name])))
                }
                return .object(members)
            })
    }
}
