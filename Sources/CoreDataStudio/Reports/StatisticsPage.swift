import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataToolkit
import Foundation

/// Facts about the columns of an entity: how many values are nil, the smallest and the largest value, bytes, indexes.
struct EntityStatistics: Sendable {
    struct Column: Sendable {
        var name: String
        var type: String
        /// The number of objects without a value.
        var nilCount: Int
        var smallest: String?
        var largest: String?
        /// The bytes of an average value of the sample; `nil` for values of fixed size.
        var averageBytes: Int?
        var largestBytes: Int?
        var indexes: [String]
    }

    var count: Int
    var columns: [Column] = []
    /// The number of objects whose bytes were measured.
    var sampleCount = 0
    var indexes: [(name: String, elements: String)] = []
    var constraints: [String] = []

    private static let sampleSize = 1_000

    init(_ entity: NSEntityDescription, in context: NSManagedObjectContext) throws {
        let name = entity.name ?? ""
        func count(_ predicate: NSPredicate?) throws -> Int {
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            request.predicate = predicate
            return try context.count(for: request)
        }
        self.count = try count(nil)
        let shown = GridColumns(entity)
        indexes = entity.indexes.map { index in
            (index.name, index.elements.map { $0.propertyName ?? "" }.joined(separator: ", "))
        }
        constraints = entity.uniquenessConstraints.map { constraint in
            constraint.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }.joined(separator: ", ")
        }
        let indexed = Dictionary(
            grouping: entity.indexes.flatMap { index in
                index.elements.compactMap { element in element.propertyName.map { ($0, index.name) } }
            }, by: \.0
        ).mapValues { $0.map(\.1) }
        let bounds = Self.bounds(entity, shown.attributes.filter(SortedValue.isSortable), in: context)
        let sizes = try Self.sizes(entity, shown.attributes, in: context)
        sampleCount = sizes.count
        for attribute in shown.attributes where !(attribute is NSCompositeAttributeDescription) {
            let size = sizes.bytes[attribute.name]
            let bound = bounds[attribute.name]
            columns.append(
                Column(
                    name: attribute.name, type: TypeName.text(attribute),
                    nilCount: try count(NSPredicate(format: "%K == nil", argumentArray: [attribute.name])),
                    smallest: bound?.smallest, largest: bound?.largest, averageBytes: size?.average,
                    largestBytes: size?.largest, indexes: indexed[attribute.name] ?? []))
        }
        for relationship in shown.toOnes {
            columns.append(
                Column(
                    name: relationship.name, type: TypeName.text(relationship),
                    nilCount: try count(NSPredicate(format: "%K == nil", argumentArray: [relationship.name])),
                    indexes: ["by the relationship"] + (indexed[relationship.name] ?? [])))
        }
    }

    /// Returns the smallest and largest values, found by the database in one statement; empty if it cannot.
    private static func bounds(
        _ entity: NSEntityDescription, _ attributes: [NSAttributeDescription], in context: NSManagedObjectContext
    ) -> [String: (smallest: String, largest: String)] {
        guard !attributes.isEmpty else { return [:] }
        let request = NSFetchRequest<NSDictionary>(entityName: entity.name ?? "")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = attributes.flatMap { attribute in
            ["min:", "max:"].map { function in
                let column = NSExpressionDescription()
                column.name = function + attribute.name
                column.expression = NSExpression(
                    forFunction: function, arguments: [NSExpression(forKeyPath: attribute.name)])
                column.expressionResultType = attribute.attributeType
                return column
            }
        }
        guard let row = try? context.fetch(request).first else { return [:] }
        var bounds: [String: (smallest: String, largest: String)] = [:]
        for attribute in attributes {
            guard let least = row["min:" + attribute.name], let most = row["max:" + attribute.name] else { continue }
            bounds[attribute.name] = (
                ShownValue(least, of: attribute).plainText, ShownValue(most, of: attribute).plainText
            )
        }
        return bounds
    }

    /// Measures texts and bytes of the first objects.
    private static func sizes(
        _ entity: NSEntityDescription, _ attributes: [NSAttributeDescription], in context: NSManagedObjectContext
    ) throws -> (bytes: [String: (average: Int, largest: Int)], count: Int) {
        let measured = attributes.filter { [.text, .bytes, .object, .link].contains($0.kind) }
        guard !measured.isEmpty else { return ([:], 0) }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.fetchLimit = sampleSize
        request.returnsObjectsAsFaults = false
        let objects = try context.fetch(request)
        var result: [String: (average: Int, largest: Int)] = [:]
        for attribute in measured {
            let sizes = objects.compactMap { size($0.value(forKey: attribute.name)) }
            guard let largest = sizes.max() else { continue }
            result[attribute.name] = (sizes.reduce(0, +) / sizes.count, largest)
        }
        return (result, objects.count)
    }

    private static func size(_ value: Any?) -> Int? {
        switch value {
        case let text as String: text.utf8.count
        case let data as Data: data.count
        case let url as URL: url.absoluteString.utf8.count
        default: nil
        }
    }
}

extension ShownValue {
    /// The beginning of the value, without markup.
    var plainText: String {
        let text =
            switch self {
            case .null: "nil"
            case .text(let text), .number(let text), .date(let text, _), .json(let text): text
            case .tree(let node): node.text
            case .bytes(let count, _): SizeText.text(count)
            }
        return text.count > 40 ? text.prefix(40) + "…" : text
    }
}

/// The page of an entity's statistics.
struct StatisticsPage: Sendable {
    let browser: StoreBrowser

    func response(_ visit: Visit) async throws -> StudioResponse {
        let (browser, name) = (browser, visit.parameter("entity"))
        let statistics = try await browser.read { context in
            try EntityStatistics(try browser.entity(name), in: context)
        }
        let rows = statistics.columns.map { column in row(column, of: name, statistics.count) }
        let sample: HTML =
            statistics.sampleCount > 0
            ? "<p class=hint>Bytes are those of the first \(GroupedNumber.text(statistics.sampleCount, "object")).</p>"
            : ""
        let indexes = statistics.indexes.map { index -> HTML in "<dt>\(index.name)<dd>\(index.elements)\n" }
        let constraints = statistics.constraints.map { text -> HTML in "<li>\(text)" }
        let content: HTML = """
            <div class=row><h1>\(name)</h1><span class=hint>\(GroupedNumber.text(statistics.count, "object"))</span></div>
            \(EntityTabs.html(name, current: .statistics))
            <div class=scroll tabindex=0 role=region aria-label="Columns of \(name)"><table><thead><tr>\
            <th scope=col>Column<th scope=col class=number>nil<th scope=col>Smallest<th scope=col>Largest\
            <th scope=col class=number>Bytes<th scope=col>Indexes</thead><tbody>\(rows)</tbody></table></div>\(sample)
            <h2>Indexes</h2>\(indexes.isEmpty ? "<p class=hint>None</p>" : "<dl class=facts>\(indexes)</dl>")
            <h2>Constraints</h2>\(constraints.isEmpty ? "<p class=hint>None</p>" : "<ul>\(constraints)</ul>")
            """
        let page = Page(
            title: "Statistics of \(name)", section: .store,
            crumbs: [.init("Store", Address("store")), .init(name, RowQuery(entity: name).address())],
            side: await browser.side(current: name), content: content)
        return .html(page.html(for: visit))
    }

    private func row(_ column: EntityStatistics.Column, of entity: String, _ count: Int) -> HTML {
        let share = count == 0 ? 0 : 100 * Double(column.nilCount) / Double(count)
        let key = NSExpression(forKeyPath: column.name).description
        let nils: HTML =
            column.nilCount == 0
            ? "0"
            : """
            <a href="\(RowQuery(entity: entity, predicate: "\(key) == nil").address())">\
            \(GroupedNumber.text(column.nilCount))</a> <small>\(String(format: "%.1f", share)) %</small>
            """
        var bytes: HTML = ""
        if let average = column.averageBytes, let largest = column.largestBytes {
            bytes = "\(SizeText.text(average)) <small>up to \(SizeText.text(largest))</small>"
        }
        return """
            <tr><th scope=row>\(column.name)<br><small>\(column.type)</small><td class=number>\(nils)\
            <td>\(column.smallest ?? "")<td>\(column.largest ?? "")<td class=number>\(bytes)\
            <td>\(column.indexes.joined(separator: ", "))
            """
    }
}
