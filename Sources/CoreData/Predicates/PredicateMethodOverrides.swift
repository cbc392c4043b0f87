import CObjectRuntime
import CoreDataPredicate
import Foundation
import Synchronization

/// Makes Foundation's predicates and expressions, and applications' subclasses of them, behave as Apple's do in methods
/// that cannot be overridden for them: they are copied, compared and printed by their content.
///
/// Foundation copies every compound as the predicate that is false, and two of them are equal to it and to each other.
/// See docs/decisions/foundations-predicates.md.
enum PredicateMethodOverrides {
    private static let copying = MethodOverride(
        CopyingPredicate.self, count: 1, plain: plainPredicates, base: NSPredicate.self)
    private static let printing = MethodOverride(
        PrintingPredicate.self, count: 2, plain: plainPredicates, base: NSPredicate.self)
    private static let comparing = MethodOverride(
        ComparingPredicate.self, count: 2, plain: plainPredicates, base: NSPredicate.self)
    private static let expressions = MethodOverride(
        OverriddenExpression.self, count: 4, plain: (PlainExpression.self, SecondPlainExpression.self),
        base: NSExpression.self)
    private static let plainPredicates: (AnyClass, AnyClass) = (PlainPredicate.self, SecondPlainPredicate.self)

    /// Foundation's classes of predicates that are copied, printed and compared wrongly.
    private static let derived: [AnyClass] = [NSCompoundPredicate.self, NSComparisonPredicate.self]

    /// Whether Foundation has the expected form: otherwise nothing is changed.
    ///
    /// If it is false, a predicate of Foundation's that is false may be the copy of a compound, and no store accepts
    /// it.
    static let isFoundationKnown: Bool = {
        guard FoundationPredicate.isKnown, expressions.isFound, expressions.fits(NSExpression.self) else {
            return false
        }
        return [copying, printing, comparing].allSatisfy { methods in
            methods.fits(NSPredicate.self) && derived.allSatisfy(methods.fits)
        }
    }()

    /// Guards the classes that have been seen.
    private static let seen = Mutex<Set<ObjectIdentifier>>([])

    /// Called when the program begins, before there is an instance: an instance whose hash changed later would not be
    /// found in its set.
    static func begin() {
        guard isFoundationKnown else { return }
        for type in derived { copying.apply(to: type) }
        // Foundation copies its own rightly.
        for type in derived + [NSPredicate.self as AnyClass] {
            printing.apply(to: type)
            comparing.apply(to: type)
        }
        expressions.apply(to: NSExpression.self)
        // Generic classes take over what their superclasses have; the tables of others are in the program's file.
        forEachSubclass(of: NSPredicate.self) { type, _, _ in
            PredicateMethodOverrides.prepare(predicates: unsafeBitCast(type, to: AnyClass.self))
        }
        forEachSubclass(of: NSExpression.self) { type, _, _ in
            PredicateMethodOverrides.prepare(expressions: unsafeBitCast(type, to: AnyClass.self))
        }
    }

    private static func forEachSubclass(of base: AnyClass, _ visit: ocd_class_visitor) {
        guard let description = ClassMethods(base)?.description else { return }
        ocd_for_each_subclass(description, visit, nil)
    }

    /// A class of which instances may have been made before.
    static func see(_ type: AnyClass) {
        guard isFoundationKnown, seen.withLock({ $0.insert(ObjectIdentifier(type)).inserted }) else { return }
        copying.apply(to: type)
        printing.apply(to: type)
    }

    /// A class of which the first instance is about to be made.
    static func prepare(predicates type: AnyClass) {
        guard isFoundationKnown, seen.withLock({ $0.insert(ObjectIdentifier(type)).inserted }) else { return }
        copying.apply(to: type)
        printing.apply(to: type)
        comparing.apply(to: type)
    }

    static func prepare(expressions type: AnyClass) {
        guard isFoundationKnown, seen.withLock({ $0.insert(ObjectIdentifier(type)).inserted }) else { return }
        expressions.apply(to: type)
    }
}

/// Called when the program begins; see CObjectRuntime.
@_cdecl("ocd_begin")
func beginMethodOverrides() {
    PredicateMethodOverrides.begin()
    DictionaryMethodOverride.begin()
}

extension NSPredicate {
    /// What stands in the place of `NSPredicate.copy(with:)` for classes of the program; see CObjectRuntime.
    @_silgen_name("ocd_predicate_copy")
    final func copyOfPredicate(with zone: NSZone?) -> Any { contentCopy }

    /// What stands in the place of `NSPredicate.predicateFormat`.
    @_silgen_name("ocd_predicate_format")
    final func formatOfPredicate() -> String { contentFormat }

    /// What stands in the place of `NSPredicate.isEqual(_:)`.
    @_silgen_name("ocd_predicate_is_equal")
    final func isEqualPredicate(_ object: Any?) -> Bool { hasContent(of: object) }
}

// The methods below run for objects of other classes than their own. Therefore their work is done by functions that
// take any predicate and are not inlined: the compiler must not infer the class.

extension NSPredicate {
    /// A predicate that does not change is its own copy; a compound is one of the same parts, in case it is given
    /// others.
    @inline(never)
    fileprivate var contentCopy: Any {
        guard let compound = self as? NSCompoundPredicate else { return self }
        guard type(of: self) == NSCompoundPredicate.self else { return self }
        return NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: compound.subpredicates)
    }

    @inline(never)
    fileprivate var contentFormat: String { node.predicateFormat }

    /// The text that the class prints; it may have its own format.
    @inline(never)
    fileprivate var classFormat: String { (self as any FormatPrinting).predicateFormat }

    @inline(never)
    fileprivate var contentHash: Int { node.hashValue }

    @inline(never)
    fileprivate func hasContent(of object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        return self === other || node == other.node
    }
}

/// Foundation's `predicateFormat` without its notice, which is true of Foundation alone.
private protocol FormatPrinting {
    var predicateFormat: String { get }
}

extension NSPredicate: FormatPrinting {}

private class PlainPredicate: NSPredicate {}

private class SecondPlainPredicate: NSPredicate {}

private class CopyingPredicate: NSPredicate {
    override func copy(with zone: NSZone? = nil) -> Any { contentCopy }
}

private class PrintingPredicate: NSPredicate {
    override var predicateFormat: String { contentFormat }
    override var description: String { classFormat }
}

private class ComparingPredicate: NSPredicate {
    override func isEqual(_ object: Any?) -> Bool { hasContent(of: object) }
    override var hash: Int { contentHash }
}

/// As in StoredExpression.swift.
private func infer(_: NSExpression) {}

extension ExpressionMaking where Self: NSExpression {
    @inline(never)
    fileprivate var contentDescription: String { node.predicateFormat }

    @inline(never)
    fileprivate var contentHash: Int { node.hashValue }

    @inline(never)
    fileprivate func hasContent(of object: Any?) -> Bool {
        guard let other = object as? NSExpression else { return false }
        return self === other || node == other.node
    }
}

private class PlainExpression: NSExpression {}

private class SecondPlainExpression: NSExpression {}

private class OverriddenExpression: NSExpression {
    override func copy(with zone: NSZone? = nil) -> Any { self }
    override func isEqual(_ object: Any?) -> Bool { hasContent(of: object) }
    override var hash: Int { contentHash }
    override var description: String { contentDescription }
}
