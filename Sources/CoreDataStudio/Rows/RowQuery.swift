import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The part of an entity's objects that a page shows, as the page's address says it.
struct RowQuery: Sendable, Hashable {
    enum Position: Sendable, Hashable {
        case first, last
        case after(RowCursor)
        case before(RowCursor)
    }

    var entity: String
    /// The predicate as typed; empty for all objects.
    var predicate = ""
    /// The attribute by which rows are sorted; `nil` for the primary key.
    var sort: String?
    var isDescending = false
    var position = Position.first
    var size = Self.defaultSize

    static let defaultSize = 50
    static let sizes = 1...500

    init(entity: String, predicate: String = "") {
        self.entity = entity
        self.predicate = predicate
    }

    init(_ visit: Visit) {
        entity = visit.parameter("entity")
        let query = visit.query
        predicate = query["where"]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        if let sort = query.text("sort") {
            isDescending = sort.hasPrefix("-")
            self.sort = isDescending ? String(sort.dropFirst()) : sort
        }
        if let cursor = query.text("after").flatMap(RowCursor.init) {
            position = .after(cursor)
        } else if let cursor = query.text("before").flatMap(RowCursor.init) {
            position = .before(cursor)
        } else if query["last"] != nil {
            position = .last
        }
        size =
            query.number("size").map { min(max($0, Self.sizes.lowerBound), Self.sizes.upperBound) }
            ?? Self.defaultSize
    }

    /// Returns the address of a page about these objects: `rows`, `export`, `plan`.
    func address(_ page: String = "rows") -> Address {
        var address = Address("store", page, entity)
        if !predicate.isEmpty { address = address.with("where", predicate) }
        if let sort { address = address.with("sort", (isDescending ? "-" : "") + sort) }
        if size != Self.defaultSize { address = address.with("size", String(size)) }
        switch position {
        case .first: break
        case .last: address = address.with("last", "1")
        case .after(let cursor): address = address.with("after", cursor.text)
        case .before(let cursor): address = address.with("before", cursor.text)
        }
        return address
    }

    /// Returns the query at another position.
    func at(_ position: Position) -> RowQuery {
        var copy = self
        copy.position = position
        return copy
    }

    /// Returns the query from its beginning in another order: the next one for a column that is sorted already.
    func sorted(by attribute: String) -> RowQuery {
        var copy = at(.first)
        if sort != attribute {
            (copy.sort, copy.isDescending) = (attribute, false)
        } else if !isDescending {
            copy.isDescending = true
        } else {
            (copy.sort, copy.isDescending) = (nil, false)
        }
        return copy
    }

    /// Returns the query with another condition as well.
    func narrowed(by condition: String) -> RowQuery {
        var copy = at(.first)
        copy.predicate = predicate.isEmpty ? condition : "(\(predicate)) AND \(condition)"
        return copy
    }
}

extension StoreBrowser {
    /// Returns the entity of an address.
    ///
    /// - Throws: ``PageFailure`` if the store has none of this name.
    func entity(_ name: String) throws -> NSEntityDescription {
        if let entity = opened.model.entitiesByName[name] { return entity }
        throw PageFailure.missing("The model has no entity “\(name)”.")
    }

    /// Returns a typed predicate, in which texts are dates, UUIDs and objects where they are compared with these.
    ///
    /// - Throws: an error about the text.
    func predicate(_ text: String, of entity: NSEntityDescription) throws -> NSPredicate? {
        text.isEmpty ? nil : try ConstantReader(opened: opened).predicate(text, of: entity)
    }
}
