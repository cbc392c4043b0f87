import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension PredicateMaking where Self: NSSortDescriptor {
    /// Sorts by a property or a key path: `NSSortDescriptor(key: "author.name", ascending: true)`.
    public init(key: String?, ascending: Bool) { self.init(keyedBy: key, ascending: ascending, .order(.literal)) }

    /// Sorts by a key path, comparing as the method of that name does.
    ///
    /// A store can sort by `compare:`, `caseInsensitiveCompare:`, `localizedCompare:`,
    /// `localizedCaseInsensitiveCompare:` and `localizedStandardCompare:`; another name sorts as `compare:` in
    /// memory and is refused by a store.
    public init(key: String?, ascending: Bool, selector: Selector?) {
        self.init(keyedBy: key, ascending: ascending, KeyedSortDescriptor.Comparison(selector))
    }

    /// Sorts by a key path with code: in memory only, no store can do it.
    public init(key: String?, ascending: Bool, comparator cmptr: @escaping Comparator) {
        self.init(keyedBy: key, ascending: ascending, .code(cmptr))
    }

    /// Sorts by the property that a Swift key path leads to; it need not be comparable in Swift.
    public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self.init(
            keyedBy: KeyPathNames.name(for: keyPath), ascending: ascending, .order(.literal), keyPath: keyPath)
    }

    /// The key path that is sorted by; `nil` when a Swift key path has no name that is known.
    public var key: String? {
        if let keyed = self as? KeyedSortDescriptor { return keyed.storedKey }
        return ordering?.key
    }

    /// The method that compares; `nil` when code does.
    public var selector: Selector? {
        switch ordering?.comparison {
        case .order(let order): Selector(order.rawValue)
        case .selector(let name): Selector(name)
        case .code, nil: nil
        }
    }

    /// Does nothing: sort descriptors cannot be archived on this platform.
    public func allowEvaluation() {}

    /// What a store needs to know; `nil` for a descriptor with a comparator on a Swift key path.
    package var ordering: SortOrdering? {
        if let keyed = self as? KeyedSortDescriptor {
            return SortOrdering(key: keyed.storedKey, ascending: ascending, comparison: keyed.comparison.summary)
        }
        if let coded = CodedSortKey(of: keyPath) {
            return SortOrdering(
                key: KeyPathNames.name(for: coded.keyPath), ascending: ascending, comparison: .code)
        }
        // Foundation's own, made from a comparable property.
        return SortOrdering(
            key: KeyPathNames.name(for: keyPath), ascending: ascending, comparison: .order(.literal))
    }
}

extension NSSortDescriptor {
    /// Sorts by a property with code: in memory only, no store can do it.
    ///
    /// Foundation's own initialiser for any type would hide from a store that there is code.
    public convenience init<Root: NSObject, Value>(
        keyPath: KeyPath<Root, Value>, ascending: Bool, comparator cmptr: @escaping Comparator
    ) {
        // Not a path from NSObject, which would lead here again.
        let coded: KeyPath<any PredicateMaking, Any> = \.[coded: CodedSortKey(keyPath: keyPath)]
        self.init(keyPath: coded, ascending: ascending, comparator: cmptr)
    }
}

/// A key path that is sorted by with code; it travels inside the descriptor's own key path.
private struct CodedSortKey: Hashable {
    let keyPath: AnyKeyPath

    init(keyPath: AnyKeyPath) { self.keyPath = keyPath }

    /// What is inside a descriptor's key path; `nil` when it is any other.
    init?(of keyPath: AnyKeyPath) {
        guard let path = keyPath as? KeyPath<any PredicateMaking, Any>,
            let key = (CodedSortKeyReader() as any PredicateMaking)[keyPath: path] as? CodedSortKey
        else { return nil }
        self = key
    }
}

/// An object that answers with the key itself instead of a value.
private final class CodedSortKeyReader: NSObject {}

extension PredicateMaking {
    fileprivate subscript(coded key: CodedSortKey) -> Any {
        self is CodedSortKeyReader ? key : (self as Any)[keyPath: key.keyPath] ?? NSNull()
    }
}

extension PredicateMaking {
    init(
        keyedBy key: String?, ascending: Bool, _ comparison: KeyedSortDescriptor.Comparison,
        keyPath: AnyKeyPath? = nil
    ) {
        let descriptor = KeyedSortDescriptor(key: key, ascending: ascending, comparison, swiftKeyPath: keyPath)
        guard let result = descriptor as? Self else { preconditionFailure("\(Self.self) is not NSSortDescriptor") }
        self = result
    }
}

/// A sort descriptor, as far as a store can follow it.
package struct SortOrdering {
    package enum Comparison: Equatable {
        case order(TextComparison.SortOrder)
        /// A method that no store knows.
        case selector(String)
        /// Code.
        case code
    }

    /// `nil` when the descriptor's key path has no name.
    package var key: String?
    package var ascending: Bool
    package var comparison: Comparison
}

/// A sort descriptor that has a key.
final class KeyedSortDescriptor: NSSortDescriptor {
    enum Comparison {
        case order(TextComparison.SortOrder)
        case selector(String)
        case code(Comparator)

        init(_ selector: Selector?) {
            let name = selector?.description ?? TextComparison.SortOrder.literal.rawValue
            self = TextComparison.SortOrder(rawValue: name).map { .order($0) } ?? .selector(name)
        }

        var summary: SortOrdering.Comparison {
            switch self {
            case .order(let order): .order(order)
            case .selector(let name): .selector(name)
            case .code: .code
            }
        }
    }

    let storedKey: String?
    let comparison: Comparison
    private let swiftKeyPath: AnyKeyPath?
    private let evaluator: ExpressionEvaluator

    init(key: String?, ascending: Bool, _ comparison: Comparison, swiftKeyPath: AnyKeyPath? = nil) {
        storedKey = key
        self.comparison = comparison
        self.swiftKeyPath = swiftKeyPath
        evaluator = ExpressionEvaluator(key.map { ExpressionNode(keyPath: $0) } ?? .evaluatedObject)
        // Foundation's part is never asked: everything it would answer is overridden.
        super.init(keyPath: \String.self, ascending: ascending, comparator: { _, _ in .orderedSame })
    }

    override var keyPath: AnyKeyPath { swiftKeyPath ?? super.keyPath }

    override var comparator: Comparator {
        { [comparison] first, second in
            Self.compare(OperandBridging.operand(from: first), OperandBridging.operand(from: second), comparison)
        }
    }

    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let result = Self.compare(sortValue(object1), sortValue(object2), comparison)
        return ascending ? result : ComparisonResult(rawValue: -result.rawValue) ?? .orderedSame
    }

    private func sortValue(_ object: Any) -> Operand {
        do {
            // A name that nobody knows leaves the key path itself.
            if storedKey == nil, let swiftKeyPath {
                return OperandBridging.operand(from: object[keyPath: swiftKeyPath])
            }
            return try evaluator.value(for: OperandBridging.operand(from: object))
        } catch {
            PredicateReporting.report(error)
            return .null
        }
    }

    private static func compare(_ first: Operand, _ second: Operand, _ comparison: Comparison) -> ComparisonResult {
        let order: TextComparison.SortOrder
        switch comparison {
        case .code(let comparator):
            return comparator(
                OperandBridging.any(from: first) ?? NSNull(), OperandBridging.any(from: second) ?? NSNull())
        case .order(let known): order = known
        case .selector: order = .literal
        }
        let result = OperandSorting.order(first, second, by: order)
        return result < 0 ? .orderedAscending : result > 0 ? .orderedDescending : .orderedSame
    }

    override var reversedSortDescriptor: Any {
        KeyedSortDescriptor(key: storedKey, ascending: !ascending, comparison, swiftKeyPath: swiftKeyPath)
    }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeyedSortDescriptor else { return false }
        if self === other { return true }
        if case .code = comparison { return false }
        return storedKey == other.storedKey && ascending == other.ascending
            && comparison.summary == other.comparison.summary && swiftKeyPath == other.swiftKeyPath
    }

    override var hash: Int {
        var hasher = Hasher()
        hasher.combine(storedKey)
        hasher.combine(ascending)
        return hasher.finalize()
    }

    override var description: String {
        let method =
            switch comparison.summary {
            case .order(let order): order.rawValue
            case .selector(let name): name
            case .code: "code"
            }
        return "(\(storedKey ?? "self"), \(ascending ? "ascending" : "descending"), \(method))"
    }
}
