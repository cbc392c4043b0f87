// swift-format-ignore-file: AvoidRetroactiveConformances

import CoreDataPredicate
import CoreDataPrimitives
import Foundation

// Archiving, as for Apple's classes. The archive contains the text of the predicate language. Apple's archives contain
// private classes, so neither side reads the other's. See docs/differences-from-apple.md.

extension NSPredicate: @retroactive NSCoding, @retroactive NSSecureCoding {}

@available(*, deprecated, message: "Only for archives")
extension Foundation.NSExpression: @retroactive NSCoding, @retroactive NSSecureCoding {}

extension NSSortDescriptor: @retroactive NSCoding, @retroactive NSSecureCoding {}

extension PredicateMaking where Self: NSPredicate {
    public static var supportsSecureCoding: Bool { true }

    /// Archives the predicate; one with code or objects in it makes the archive an error.
    public func encode(with coder: NSCoder) {
        PredicateArchive.encode(node.archivedForm, "\(node.predicateFormat)", with: coder)
    }

    /// Decodes a predicate; `nil` if the archive has none, or if it could not be archived.
    public init?(coder: NSCoder) {
        let node = PredicateArchive.decode(from: coder) { text throws(PredicateFailure) in
            try PredicateParser.parse(format: text)
        } substituting: {
            $0.substitutingVariables($1)
        }
        guard let node else { return nil }
        self.init(predicateNode: node)
    }
}

extension ExpressionMaking where Self: NSExpression {
    public static var supportsSecureCoding: Bool { true }

    /// Archives the expression; one with code or objects in it makes the archive an error.
    public func encode(with coder: NSCoder) {
        PredicateArchive.encode(node.archivedForm, "\(node.predicateFormat)", with: coder)
    }

    /// Decodes an expression; `nil` if the archive has none, or if it could not be archived.
    public init?(coder: NSCoder) {
        let node = PredicateArchive.decode(from: coder) { text throws(PredicateFailure) in
            try PredicateParser.parseExpression(format: text)
        } substituting: {
            $0.substitutingVariables($1)
        }
        guard let node else { return nil }
        self.init(node: node)
    }
}

extension SortDescriptorMaking where Self: NSSortDescriptor {
    public static var supportsSecureCoding: Bool { true }

    /// Archives the descriptor, as Apple's does; one with code makes the archive an error.
    public func encode(with coder: NSCoder) {
        guard let selector, let ordering else {
            return PredicateArchive.refuse("\(self)", with: coder)
        }
        coder.encode(ordering.key.map { NSString(string: $0) }, forKey: "NSKey")
        coder.encode(ordering.ascending, forKey: "NSAscending")
        coder.encode(NSString(string: selector.description), forKey: "NSSelector")
    }

    /// Decodes a descriptor; `nil` if the archive has none, or if it could not be archived.
    public init?(coder: NSCoder) {
        guard let selector = coder.decodeObject(of: NSString.self, forKey: "NSSelector") else {
            PredicateArchive.fail("There is no sort descriptor in the archive.", coder)
            return nil
        }
        let key = coder.decodeObject(of: NSString.self, forKey: "NSKey").map { String(describing: $0) }
        self.init(
            key: key, ascending: coder.decodeBool(forKey: "NSAscending"),
            selector: Selector(String(describing: selector)))
    }
}

private enum PredicateArchive {
    private static let textKey = "OpenCoreDataFormat"
    private static let constantsKey = "OpenCoreDataConstants"

    /// The archived form: a text, and the values of its variables.
    typealias Form = (text: String, constants: [NSArray])

    static func encode(_ form: Form?, _ what: String, with coder: NSCoder) {
        guard let form else { return refuse(what, with: coder) }
        coder.encode(NSString(string: form.text), forKey: textKey)
        if !form.constants.isEmpty { coder.encode(NSArray(array: form.constants), forKey: constantsKey) }
    }

    /// Foundation's archiver throws the error at the end; another coder can only be told that there is nothing.
    static func refuse(_ what: String, with coder: NSCoder) {
        let error = CocoaError(
            .coderInvalidValue,
            userInfo: [NSLocalizedDescriptionKey: "Code and objects cannot be archived: \(what)."])
        if let archiver = coder as? NSKeyedArchiver { archiver.error = error } else { PredicateReporting.report(error) }
    }

    static func decode<Node>(
        from coder: NSCoder, _ parse: (String) throws(PredicateFailure) -> Node,
        substituting substitute: (Node, [String: ExpressionNode]) -> Node
    ) -> Node? {
        guard let text = coder.decodeObject(of: NSString.self, forKey: textKey) else {
            fail("There is nothing that this module has archived.", coder)
            return nil
        }
        do {
            let node = try parse(String(describing: text))
            guard coder.containsValue(forKey: constantsKey) else { return node }
            guard let lists = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: constantsKey) as? NSArray,
                let constants = ArchivedConstants(lists: lists)
            else {
                fail("The constants of the predicate cannot be read.", coder)
                return nil
            }
            return substitute(node, constants.expressions)
        } catch {
            fail(error.diagnostic.message, coder)
            return nil
        }
    }

    static func fail(_ message: String, _ coder: NSCoder) {
        // Else Foundation would stop the program.
        guard coder.decodingFailurePolicy == .setErrorAndReturn else { return }
        coder.failWithError(CocoaError(.coderReadCorrupt, userInfo: [NSLocalizedDescriptionKey: message]))
    }
}

extension PredicateNode {
    /// A form that is the same predicate when it is read again; `nil` if there is none.
    fileprivate var archivedForm: PredicateArchive.Form? {
        guard !containsBlocks, !containsObjects else { return nil }
        var constants = ArchivedConstants()
        let text = mapOutermost { constants.variable(for: $0) }.predicateFormat
        guard (try? PredicateParser.parse(format: text))?.predicateFormat == text else { return nil }
        return (text, constants.lists)
    }

    private var containsObjects: Bool {
        var found = false
        forEachExpression { found = found || $0.isObject }
        return found
    }
}

extension ExpressionNode {
    fileprivate var archivedForm: PredicateArchive.Form? {
        var isText = true
        forEachExpression { if $0.isObject { isText = false } }
        guard isText else { return nil }
        var constants = ArchivedConstants()
        let text = mapOutermost { constants.variable(for: $0) }.predicateFormat
        guard (try? PredicateParser.parseExpression(format: text))?.predicateFormat == text else { return nil }
        return (text, constants.lists)
    }

    fileprivate var isObject: Bool {
        switch self {
        case .constant(let constant): constant.isObject
        case .block: true
        default: false
        }
    }
}

extension Constant {
    fileprivate var isObject: Bool {
        switch self {
        case .object, .key, .value(.opaque): true
        case .collection(let members, _): members.contains { $0.isObject }
        case .dictionary(let entries): entries.contains { $0.key.isObject || $0.value.isObject }
        case .value, .symbol: false
        }
    }
}
