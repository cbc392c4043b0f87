import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// The collections and dictionaries of an archived predicate: as text they would be read as aggregates, and a set would
/// have an order.
///
/// Each is represented in the text by a variable. Its content is archived beside the text, as arrays of texts: a word
/// for its kind, then its members, or alternating keys and values.
///
///     name IN $OpenCoreDataConstant0      ["array", "\"x\"", "\"y\""]
struct ArchivedConstants {
    private(set) var lists: [NSArray] = []
    private var names: [String: ExpressionNode] = [:]

    private static let prefix = "OpenCoreDataConstant"

    init() {}

    /// Returns the variable that is archived instead of the expression; `nil` if its text suffices.
    mutating func variable(for expression: ExpressionNode) -> ExpressionNode? {
        guard case .constant(let constant) = expression, let list = Self.list(of: constant) else { return nil }
        lists.append(list)
        return .variable(Self.prefix + String(lists.count - 1))
    }

    /// The expressions of archived lists by the names of their variables; `nil` for lists that are none of ours.
    init?(lists: NSArray) {
        for (index, list) in lists.enumerated() {
            guard let constant = Self.constant(of: list) else { return nil }
            names[Self.prefix + String(index)] = .constant(constant)
        }
    }

    var expressions: [String: ExpressionNode] { names }

    // MARK: Lists

    private static func list(of constant: Constant) -> NSArray? {
        switch constant {
        case .collection(let members, let isOrdered):
            NSArray(array: [isOrdered ? "array" : "set"] + members.map(archived))
        case .dictionary(let entries):
            NSArray(array: ["dictionary"] + entries.flatMap { [archived($0.key), archived($0.value)] })
        case .value, .object, .key, .symbol: nil
        }
    }

    private static func archived(_ constant: Constant) -> Any {
        list(of: constant) ?? NSString(string: ExpressionNode.constant(constant).predicateFormat)
    }

    private static func constant(of archived: Any) -> Constant? {
        if let text = archived as? String {
            guard case .constant(let constant)? = try? PredicateParser.parseExpression(format: text) else { return nil }
            return constant
        }
        guard let list = archived as? [Any], let kind = list.first as? String else { return nil }
        let members = list.dropFirst().compactMap(constant)
        guard members.count == list.count - 1 else { return nil }
        switch kind {
        case "array": return .collection(members, isOrdered: true)
        case "set": return .collection(members, isOrdered: false)
        case "dictionary" where members.count % 2 == 0:
            return .dictionary(
                stride(from: 0, to: members.count, by: 2).map { (key: members[$0], value: members[$0 + 1]) })
        default: return nil
        }
    }
}
