import CoreData
import Foundation

/// The values of an attribute that several objects have.
struct DuplicateValues {
    let entity: NSEntityDescription
    let attribute: String
    let matching: Deduplicator.Matching

    /// Equal values that more than one object has.
    struct Group {
        var values: [Any] = []
        var count = 0
    }

    /// Returns the groups, with one statement for any number of objects.
    func groups(in context: NSManagedObjectContext) throws -> [Group] {
        let count = NSExpressionDescription()
        count.name = "count"
        count.expression = NSExpression(
            forFunction: "count:", arguments: [NSExpression(forKeyPath: attribute)])
        count.expressionResultType = .integer64AttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: entity.name ?? "")
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = [attribute]
        request.propertiesToFetch = [attribute, count]
        var groups: [ObjectKey.Part: Group] = [:]
        var order: [ObjectKey.Part] = []
        for row in try context.fetch(request) {
            guard let value = row[attribute], !(value is NSNull), let count = row["count"] as? NSNumber else {
                continue
            }
            let key = key(of: value)
            if groups[key] == nil { order.append(key) }
            groups[key, default: Group()].values.append(value)
            groups[key]?.count += count.intValue
        }
        return order.compactMap { groups[$0] }.filter { $0.count > 1 }
    }

    func key(of value: Any) -> ObjectKey.Part {
        guard let text = value as? String else { return ObjectKey.Part(value) }
        switch matching {
        case .exact: return ObjectKey.Part(text)
        case .ignoringCaseAndBlanks:
            return ObjectKey.Part(text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased())
        case .by(let normalize): return ObjectKey.Part(normalize(text))
        }
    }
}
