import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension SortDescriptorMaking where Self: NSSortDescriptor {
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

    /// Sorts by the property of a Swift key path; its type need not be comparable in Swift.
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

    /// Does nothing: a sort descriptor from an archive can be used at once.
    public func allowEvaluation() {}

    /// The order as stores need it; `nil` for a descriptor with a comparator on a Swift key path.
    package var ordering: SortOrdering? {
        if let keyed = self as? KeyedSortDescriptor {
            return SortOrdering(key: keyed.storedKey, ascending: ascending, comparison: keyed.comparison.summary)
        }
        if let criterion = SortCriterion.of(keyPath) {
            // A class that compares in its own way cannot be followed, whatever its key.
            let comparison =
                SortDescriptorInstance.comparesByItself(type(of: self)) ? .code : criterion.comparison.summary
            return SortOrdering(key: criterion.key, ascending: ascending, comparison: comparison)
        }
        // Foundation's own, made from a comparable property.
        let comparison: SortOrdering.Comparison =
            SortDescriptorInstance.comparesByItself(type(of: self)) ? .code : .order(.literal)
        return SortOrdering(key: KeyPathNames.name(for: keyPath), ascending: ascending, comparison: comparison)
    }
}

extension NSSortDescriptor {
    /// Sorts by a property with code: in memory only, no store can do it.
    ///
    /// Foundation's own initialiser for any type would hide from a store that there is code.
    public convenience init<Root: NSObject, Value>(
        keyPath: KeyPath<Root, Value>, ascending: Bool, comparator cmptr: @escaping Comparator
    ) {
        let criterion = SortCriterion(
            key: KeyPathNames.name(for: keyPath), .code(cmptr), swiftKeyPath: keyPath)
        // Not a path from NSObject, which would lead here again.
        self.init(keyPath: criterion.path, ascending: ascending, comparator: cmptr)
    }
}

extension SortDescriptorMaking where Self: NSSortDescriptor {
    init(
        keyedBy key: String?, ascending: Bool, _ comparison: KeyedSortDescriptor.Comparison,
        keyPath: AnyKeyPath? = nil
    ) {
        let criterion = SortCriterion(key: key, comparison, swiftKeyPath: keyPath)
        guard let result = SortDescriptorInstance.make(criterion, ascending: ascending, of: Self.self) as? Self else {
            preconditionFailure("an instance of \(Self.self) is none")
        }
        self = result
    }
}

/// Makes sort descriptors of whatever class they shall have.
private enum SortDescriptorInstance {
    static func make(_ criterion: SortCriterion, ascending: Bool, of type: NSSortDescriptor.Type) -> NSSortDescriptor {
        if type == NSSortDescriptor.self || type == KeyedSortDescriptor.self {
            return KeyedSortDescriptor(criterion, ascending: ascending)
        }
        return type.instance(criterion, ascending)
    }

    // MARK: Overridden comparison

    private class PlainDescriptor: NSSortDescriptor {}

    private class SecondPlainDescriptor: NSSortDescriptor {}

    private class ComparingDescriptor: NSSortDescriptor {
        override func compare(_ object1: Any, to object2: Any) -> ComparisonResult { .orderedSame }
    }

    private static let comparing = MethodOverride(
        ComparingDescriptor.self, count: 1, plain: (PlainDescriptor.self, SecondPlainDescriptor.self),
        base: NSSortDescriptor.self)

    /// Whether the class overrides `compare(_:to:)`.
    static func comparesByItself(_ type: NSSortDescriptor.Type) -> Bool {
        type != NSSortDescriptor.self && (!comparing.isFound || comparing.isOverridden(in: type))
    }
}

// As in PredicateInstance.swift: an initialiser that can be called for any class.
extension NSSortDescriptor {
    @_silgen_name("ocd_sort_instance")
    fileprivate convenience init(criterion: __owned SortCriterion, ascending: __owned Bool) {
        self.init(keyPath: criterion.path, ascending: ascending, comparator: criterion.comparator)
    }

    @_silgen_name("ocd_sort_instance")
    fileprivate static func instance(_ criterion: __owned SortCriterion, _ ascending: __owned Bool) -> NSSortDescriptor
}

/// The criterion of a sort descriptor. It is stored inside a key path, the only own value that a descriptor of
/// Foundation's can hold.
final class SortCriterion: Hashable {
    let key: String?
    let comparison: KeyedSortDescriptor.Comparison
    let swiftKeyPath: AnyKeyPath?
    private let evaluator: ExpressionEvaluator

    init(key: String?, _ comparison: KeyedSortDescriptor.Comparison, swiftKeyPath: AnyKeyPath? = nil) {
        self.key = key
        self.comparison = comparison
        self.swiftKeyPath = swiftKeyPath
        evaluator = ExpressionEvaluator(key.map { ExpressionNode(keyPath: $0) } ?? .evaluatedObject)
    }

    static func == (a: SortCriterion, b: SortCriterion) -> Bool { a === b }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// A key path from any value to its sort value.
    var path: KeyPath<Any?, Any> { \Any?.[sortedBy: self] }

    /// The criterion inside of a descriptor's key path; `nil` for any other path.
    static func of(_ keyPath: AnyKeyPath) -> SortCriterion? {
        guard let path = keyPath as? KeyPath<Any?, Any> else { return nil }
        return (Reader() as Any?)[keyPath: path] as? SortCriterion
    }

    /// A value that answers with the criterion itself.
    fileprivate struct Reader {}

    func value(of object: Any?) -> Operand {
        do {
            // If the name is not known, the key path itself is used.
            if key == nil, let swiftKeyPath {
                return OperandBridging.operand(from: object.flatMap { $0[keyPath: swiftKeyPath] })
            }
            return try evaluator.value(for: OperandBridging.operand(from: object))
        } catch {
            PredicateReporting.report(error)
            return .null
        }
    }

    /// Compares the values at the path.
    var comparator: Comparator {
        { [comparison] first, second in
            KeyedSortDescriptor.compare(
                OperandBridging.operand(from: first), OperandBridging.operand(from: second), comparison)
        }
    }
}

extension Optional where Wrapped == Any {
    fileprivate subscript(sortedBy criterion: SortCriterion) -> Any {
        if self is SortCriterion.Reader { return criterion }
        return OperandBridging.any(from: criterion.value(of: self)) ?? NSNull()
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

    let criterion: SortCriterion
    var storedKey: String? { criterion.key }
    var comparison: Comparison { criterion.comparison }

    init(_ criterion: SortCriterion, ascending: Bool) {
        self.criterion = criterion
        // Foundation's part is never asked: everything it would answer is overridden.
        super.init(keyPath: \String.self, ascending: ascending, comparator: { _, _ in .orderedSame })
    }

    override var keyPath: AnyKeyPath { criterion.swiftKeyPath ?? super.keyPath }

    override var comparator: Comparator { criterion.comparator }

    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let result = Self.compare(criterion.value(of: object1), criterion.value(of: object2), comparison)
        return ascending ? result : ComparisonResult(rawValue: -result.rawValue) ?? .orderedSame
    }

    static func compare(_ first: Operand, _ second: Operand, _ comparison: Comparison) -> ComparisonResult {
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
        KeyedSortDescriptor(criterion, ascending: !ascending)
    }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeyedSortDescriptor else { return false }
        if self === other { return true }
        if case .code = comparison { return false }
        return storedKey == other.storedKey && ascending == other.ascending
            && comparison.summary == other.comparison.summary
            && criterion.swiftKeyPath == other.criterion.swiftKeyPath
    }

    override var hash: Int {
        var hasher = Hasher()
        hasher.combine(storedKey)
        hasher.combine(ascending)
        return hasher.finalize()
    }

    override var classForCoder: AnyClass { NSSortDescriptor.self }

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
