import CoreData
import CoreDataJSON
import Foundation

/// The order of a list, and the position of an object in it: `sort=aisle,-price`.
///
/// The object's ID is the last key, so that the order is total. A position is the values of one object: a page begins
/// after it, wherever it is now, and whether or not the object still exists. No page counts rows that it skips.
package struct SortOrder: Sendable {
    package struct Key: Sendable {
        package let path: String
        package let form: AttributeForm
        package let isAscending: Bool
    }

    package let keys: [Key]
    package static let maximumKeys = 5

    package init(_ text: String?, of entity: ServedEntity, in model: ServedModel) throws(Problem) {
        var keys: [Key] = []
        for part in (text ?? "").split(separator: ",") {
            let isDescending = part.hasPrefix("-")
            let name = part.hasPrefix("-") || part.hasPrefix("+") ? part.dropFirst() : part
            let path: ServedKeyPath
            do throws(ServedModel.KeyPathMistake) {
                path = try model.keyPath(
                    name.split(separator: ".", omittingEmptySubsequences: false).map(String.init), of: entity)
            } catch { throw .query("sort: \(error.words)") }
            guard case .attribute(let attribute) = path.end, path.collections == 0 else {
                throw .query("sort: '\(name.prefix(80))' is not an attribute with one value")
            }
            switch attribute.form {
            case .integer, .decimal, .double, .float, .string, .boolean, .date, .uuid: break
            case .bytes, .largeBytes, .uri, .composite: throw .query("sort: '\(name.prefix(80))' has no order")
            }
            guard !keys.contains(where: { $0.path == path.text }) else {
                throw .query("sort: '\(name.prefix(80))' appears twice")
            }
            keys.append(Key(path: path.text, form: attribute.form, isAscending: !isDescending))
        }
        guard keys.count <= Self.maximumKeys else { throw .query("sort has more than \(Self.maximumKeys) keys") }
        if let place = keys.firstIndex(where: { $0.path == entity.identity }) {
            // Keys after a unique one order nothing.
            keys.removeSubrange((place + 1)...)
        } else {
            keys.append(Key(path: entity.identity, form: .uuid, isAscending: true))
        }
        self.keys = keys
    }

    package var descriptors: [NSSortDescriptor] {
        keys.map { NSSortDescriptor(key: $0.path, ascending: $0.isAscending) }
    }

    /// The order in words, which a position must have in common with its request.
    private var words: String { keys.map { ($0.isAscending ? "" : "-") + $0.path }.joined(separator: ",") }

    // MARK: Positions

    /// Returns the position of an object, for the next request.
    package func position(of object: NSManagedObject) -> String {
        let values = keys.map { $0.form.json(object.value(forKeyPath: $0.path)) }
        return Base64URL.text(JSONWriter.bytes(.array([.string(words)] + values)))
    }

    /// Returns the predicate of the objects after a position.
    package func predicate(after position: String) throws(Problem) -> NSPredicate {
        guard position.utf8.count <= 8192, let bytes = Base64URL.bytes(position),
            let json = try? JSONParser.parse(bytes), let parts = json.array, parts.count == keys.count + 1
        else { throw .query("after is not a position: use the 'next' of the page before") }
        guard parts[0].string == words else {
            throw .query("after belongs to a list in another order: send the same sort as for the page before")
        }
        var values: [Any?] = []
        for (key, part) in zip(keys, parts.dropFirst()) {
            do throws(ValueMistake) { values.append(try key.form.value(part)) } catch {
                throw .query("after is not a position: \(error.words)")
            }
        }
        // The first keys are equal, and the next one is greater.
        var alternatives: [NSPredicate] = []
        var equal: [NSPredicate] = []
        for (key, value) in zip(keys, values) {
            let later = Self.later(key, value)
            if let later { alternatives.append(NSCompoundPredicate(andPredicateWithSubpredicates: equal + [later])) }
            equal.append(Self.comparison(key.path, .equalTo, value))
        }
        return NSCompoundPredicate(orPredicateWithSubpredicates: alternatives)
    }

    /// What follows a value; nil is less than every value.
    private static func later(_ key: Key, _ value: Any?) -> NSPredicate? {
        guard let value else { return key.isAscending ? comparison(key.path, .notEqualTo, nil) : nil }
        if key.isAscending { return comparison(key.path, .greaterThan, value) }
        return NSCompoundPredicate(orPredicateWithSubpredicates: [
            comparison(key.path, .lessThan, value), comparison(key.path, .equalTo, nil),
        ])
    }

    private static func comparison(
        _ path: String, _ type: ComparisonNaming.Operator, _ value: Any?
    ) -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: path), rightExpression: NSExpression(forConstantValue: value),
            modifier: .direct, type: type)
    }
}

/// Base64 in the alphabet of addresses, without padding.
package enum Base64URL {
    package static func text(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    package static func bytes(_ text: String) -> [UInt8]? {
        var text = text.replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: text).map { [UInt8]($0) }
    }
}
