import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The different values of a column and the numbers of their objects.
struct Facets: Sendable {
    struct Value: Sendable {
        var text: HTML
        /// The condition that selects the objects with this value.
        var condition: String
        var count: Int
    }

    var column: String
    var values: [Value]
    /// Whether there are more values than are read.
    var isPartial: Bool

    /// The most values that are read.
    static let limit = 2_000
    /// The most values that a page shows.
    static let shown = 50

    static func hasFacets(_ attribute: NSAttributeDescription) -> Bool {
        switch attribute.kind {
        case .integer, .boolean, .real, .single, .decimal, .text, .date, .identifier, .link: !attribute.isTransient
        case .bytes, .object, .reference, .composite: false
        }
    }

    /// Groups the objects of a query by a column, in the database.
    init(
        _ column: String, of query: RowQuery, _ entity: NSEntityDescription, in context: NSManagedObjectContext,
        _ browser: StoreBrowser
    ) throws {
        self.column = column
        let property = entity.propertiesByName[column]
        let relationship = (property as? NSRelationshipDescription).flatMap { $0.isToMany ? nil : $0 }
        let attribute = (property as? NSAttributeDescription).flatMap { Self.hasFacets($0) ? $0 : nil }
        guard relationship != nil || attribute != nil else {
            throw PageFailure(400, "The values of \(query.entity).\(column) cannot be counted.")
        }
        let count = NSExpressionDescription()
        count.name = "number of objects"
        count.expression = NSExpression(
            forFunction: "count:", arguments: [NSExpression.expressionForEvaluatedObject()])
        count.expressionResultType = .integer64AttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: query.entity)
        request.resultType = .dictionaryResultType
        request.predicate = try browser.predicate(query.predicate, of: entity)
        request.propertiesToFetch = [column, count]
        request.propertiesToGroupBy = [column]
        request.fetchLimit = Self.limit + 1
        let rows = try context.fetch(request)
        isPartial = rows.count > Self.limit
        let key = NSExpression(forKeyPath: column).description
        values = rows.prefix(Self.limit)
            .map { row in (value: row[column], count: (row[count.name] as? NSNumber)?.intValue ?? 0) }
            .sorted { $0.count > $1.count }.prefix(Self.shown)
            .map { value, count in
                if let attribute {
                    let shown = ShownValue(value, of: attribute)
                    return Value(
                        text: shown.facetText, condition: "\(key) == \(PredicateLiteral.text(value, of: attribute))",
                        count: count)
                }
                return Self.value(value, key, count, in: context)
            }
    }

    private static func value(_ value: Any?, _ key: String, _ count: Int, in context: NSManagedObjectContext) -> Value {
        guard let id = value as? NSManagedObjectID,
            let link = ObjectLink(context.object(with: id), readsLabel: true)
        else { return Value(text: "<span class=null>nil</span>", condition: "\(key) == nil", count: count) }
        return Value(
            text: "\(link.label ?? link.reference)", condition: "\(key) == '\(link.reference)'", count: count)
    }
}

extension ShownValue {
    /// The value in a list of values.
    fileprivate var facetText: HTML {
        switch self {
        case .text(let text) where text.isEmpty: "<span class=null>empty text</span>"
        default: cell(at: Address())
        }
    }
}

/// Values as a predicate writes them; ``StoreBrowser/predicate(_:of:)`` reads them back.
enum PredicateLiteral {
    static func text(_ value: Any?, of attribute: NSAttributeDescription) -> String {
        guard let value, !(value is NSNull) else { return "nil" }
        let text = AttributeText(attribute: attribute, isExact: true).cell(value).text ?? ""
        switch attribute.kind {
        case .integer, .real, .single, .decimal: return text
        case .boolean: return text == "true" ? "YES" : "NO"
        default: return NSExpression(forConstantValue: text).description
        }
    }
}

/// The page of a column's values.
struct FacetsPage: Sendable {
    let browser: StoreBrowser
    let query: RowQuery

    func response(_ visit: Visit) async throws -> StudioResponse {
        let (browser, query) = (browser, query)
        let column = visit.query["column"] ?? ""
        let facets = try await browser.read { context in
            try Facets(column, of: query, try browser.entity(query.entity), in: context, browser)
        }
        let rows = facets.values.map { value -> HTML in
            let address = query.narrowed(by: value.condition).address()
            return """
                <tr><td><a href="\(address)">\(value.text)</a>
                <td class=number>\(GroupedNumber.text(value.count))
                """
        }
        let partial: HTML =
            facets.isPartial
            ? "<p class=notice>There are more than \(GroupedNumber.text(Facets.limit)) values; these are the most frequent ones of the first \(GroupedNumber.text(Facets.limit)).</p>"
            : ""
        let content: HTML = """
            <h1>Values of \(query.entity).\(column)</h1>
            \(query.predicate.isEmpty ? "" : "<p class=hint>Of the objects with <code>\(query.predicate)</code></p>")
            \(partial)
            <div class=scroll tabindex=0 role=region aria-label="Values"><table>
            <thead><tr><th scope=col>Value<th scope=col class=number>Objects</thead><tbody>\(rows)</tbody></table></div>
            """
        let page = Page(
            title: "\(query.entity).\(column)", section: .store,
            crumbs: [.init("Store", Address("store")), .init(query.entity, query.address())], content: content)
        return .html(page.html(for: visit))
    }
}
