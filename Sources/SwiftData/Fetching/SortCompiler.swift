import CoreData
import Foundation
import Synchronization

/// Converts Swift sort descriptors over model classes to those of the engine.
enum SortCompiler {
    /// - Throws: `SwiftDataError.unsupportedSortDescriptor` for one of code, and of a property that no store has.
    static func descriptor<T: PersistentModel>(_ descriptor: SortDescriptor<T>) throws -> NSSortDescriptor {
        guard let keyPath = descriptor.keyPath else {
            throw SwiftDataError(
                .unsupportedSortDescriptor,
                "A SortDescriptor<\(T.self)> without a key path, such as one with a comparator, cannot sort in a store."
            )
        }
        let (path, selector) = OrderedText.order(of: keyPath) ?? (keyPath, nil)
        guard let name = ModelLayout.of(T.self).sortName(of: path) else {
            throw SwiftDataError(
                .unsupportedSortDescriptor,
                "A SortDescriptor<\(T.self)> of \(keyPath) cannot sort in a store: that is no stored property and no identifier."
            )
        }
        return NSSortDescriptor(
            key: name, ascending: descriptor.order == .forward, selector: selector.map { Selector($0) })
    }
}

/// How texts compare that are sorted for people's eyes. Foundation has only `lexical` off Apple's platforms.
///
///     SortDescriptor(\Trip.name, comparator: .localizedStandard)
///     // ORDER BY t0.ZNAME COLLATE NSCollateFinderlike
public struct LocalizedTextComparator: Hashable, Sendable {
    let selector: String

    /// By language, numbers inside texts by their value: "Item 9" before "Item 10".
    public static let localizedStandard = LocalizedTextComparator(selector: "localizedStandardCompare:")
    /// By language.
    public static let localized = LocalizedTextComparator(selector: "localizedCompare:")
}

extension SortDescriptor where Compared: PersistentModel {
    /// Sorts by a text as people expect it.
    public init(
        _ keyPath: KeyPath<Compared, String>, comparator: LocalizedTextComparator, order: SortOrder = .forward
    ) {
        self.init(OrderedText.path(keyPath, comparator), order: order)
    }

    /// Sorts by an optional text as people expect it; nil comes first.
    public init(
        _ keyPath: KeyPath<Compared, String?>, comparator: LocalizedTextComparator, order: SortOrder = .forward
    ) {
        self.init(OrderedText.path(keyPath, comparator), order: order)
    }
}

/// A text that compares as its comparator says.
public struct OrderedText: Comparable {
    private let text: String?
    private let comparator: LocalizedTextComparator

    fileprivate init(_ text: String?, _ comparator: LocalizedTextComparator) {
        self.text = text
        self.comparator = comparator
    }

    public static func < (a: OrderedText, b: OrderedText) -> Bool {
        guard let first = a.text, let second = b.text else { return a.text == nil && b.text != nil }
        return a.comparator == .localizedStandard
            ? first.localizedStandardCompare(second) == .orderedAscending
            : first.localizedCompare(second) == .orderedAscending
    }

    // MARK: Key paths

    private struct Known: @unchecked Sendable {
        // Safe because key paths are immutable.
        var orders: [AnyKeyPath: (AnyKeyPath, String)] = [:]
    }

    /// The paths that were made, and their sort keys; their number is bounded by the program's sort descriptors.
    private static let known = Mutex(Known())

    fileprivate static func path<Model: PersistentModel, Value>(
        _ keyPath: KeyPath<Model, Value>, _ comparator: LocalizedTextComparator
    ) -> KeyPath<Model, OrderedText> & Sendable {
        // Safe because key paths are immutable.
        nonisolated(unsafe) let original = keyPath
        let path = \Model.[orderedBy: TextKey(path: keyPath, comparator: comparator)]
        known.withLock { $0.orders[path] = (original, comparator.selector) }
        return path
    }

    static func order(of keyPath: AnyKeyPath) -> (AnyKeyPath, String?)? {
        nonisolated(unsafe) let wanted = keyPath
        let found = known.withLock { known in known.orders[wanted].map { UnsafeResult(value: $0) } }
        return found.map { ($0.value.0, $0.value.1) }
    }

    private struct UnsafeResult: @unchecked Sendable {
        // Safe because key paths are immutable.
        let value: (AnyKeyPath, String)
    }
}

/// A text's key path and how its values compare.
struct TextKey: Hashable, @unchecked Sendable {
    // Safe because key paths are immutable.
    let path: AnyKeyPath
    let comparator: LocalizedTextComparator
}

extension PersistentModel {
    fileprivate subscript(orderedBy key: TextKey) -> OrderedText {
        OrderedText(self[keyPath: key.path] as? String, key.comparator)
    }
}
