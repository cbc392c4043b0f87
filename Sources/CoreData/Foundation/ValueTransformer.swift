import Foundation
import Synchronization

/// The name under which a ``ValueTransformer`` is registered.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The name as text, as a model has it.
    public let rawValue: String

    /// A name of that text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A name of that text.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// `true` to `false` and back.
    public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
    /// Whether there is no value.
    public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
    /// Whether there is a value.
    public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
    /// Archived data to the object in it, of the classes that property lists and models know.
    public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
    /// Archived data to the object in it, of the classes that property lists and models know.
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
    /// Archived data to the object in it, of the allowed classes only.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}

/// Turns values of one kind into another, as a transformable attribute needs for being stored as data.
///
///     final class ColorTransformer: ValueTransformer {
///         override class func allowsReverseTransformation() -> Bool { true }
///         override func transformedValue(_ value: Any?) -> Any? { (value as? Color)?.data }
///         override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? Data).map(Color.init) }
///     }
///     ValueTransformer.setValueTransformer(ColorTransformer(), forName: NSValueTransformerName("ColorTransformer"))
///
/// Register a transformer before the first store that needs it is loaded.
///
/// Differs from Apple: a class that was not registered is not found by its name.
open class ValueTransformer: NSObject {
    public override init() { super.init() }

    /// The class of what ``transformedValue(_:)`` returns.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Whether ``reverseTransformedValue(_:)`` works.
    open class func allowsReverseTransformation() -> Bool { true }

    /// Returns the transformed value; the value itself unless overridden.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// The value that becomes the given one.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
        type(of: self).allowsReverseTransformation() ? transformedValue(value) : nil
    }

    /// Registers a transformer under a name for every thread; `nil` takes the name out.
    public static func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        let entry = transformer.map(Registry.Entry.init)
        Registry.shared.entries.withLock { $0[name.rawValue] = entry }
    }

    /// The names of all registered transformers, sorted.
    public static func valueTransformerNames() -> [NSValueTransformerName] {
        Registry.shared.entries.withLock { $0.keys.sorted() }.map(NSValueTransformerName.init(rawValue:))
    }

    /// The transformer registered under a name.
    package static func registered(forName name: String) -> ValueTransformer? {
        Registry.shared.entries.withLock { $0[name] }?.transformer
    }

    /// The registered transformers. `entries` guards itself.
    private final class Registry: Sendable {
        struct Entry: @unchecked Sendable {
            // Safe because any thread may call a registered transformer, as Apple's documentation requires.
            let transformer: ValueTransformer
        }

        static let shared = Registry()

        let entries = Mutex<[String: Entry]>([
            "NSNegateBoolean": Entry(transformer: NegatingTransformer()),
            "NSIsNil": Entry(transformer: NilTestingTransformer(resultForNil: true)),
            "NSIsNotNil": Entry(transformer: NilTestingTransformer(resultForNil: false)),
            "NSUnarchiveFromData": Entry(transformer: NSSecureUnarchiveFromDataTransformer()),
            "NSKeyedUnarchiveFromData": Entry(transformer: NSSecureUnarchiveFromDataTransformer()),
            "NSSecureUnarchiveFromData": Entry(transformer: NSSecureUnarchiveFromDataTransformer()),
            "NSSecureUnarchiveFromDataTransformer": Entry(transformer: NSSecureUnarchiveFromDataTransformer()),
        ])
    }
}

/// Gives ``ValueTransformer`` an initialiser that answers with the registered instance: an initialiser of a protocol
/// can set `self`, one of a class cannot.
public protocol ValueTransformerLookup {}

extension ValueTransformer: ValueTransformerLookup {}

extension ValueTransformerLookup {
    /// Returns the transformer registered under that name; `nil` if there is none.
    public init?(forName name: NSValueTransformerName) {
        guard let transformer = ValueTransformer.registered(forName: name.rawValue) as? Self else { return nil }
        self = transformer
    }
}

private final class NegatingTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSNumber.self }

    override func transformedValue(_ value: Any?) -> Any? {
        NSNumber(value: !((value as? NSNumber)?.boolValue ?? false))
    }
}

private final class NilTestingTransformer: ValueTransformer {
    private let resultForNil: Bool

    init(resultForNil: Bool) {
        self.resultForNil = resultForNil
        super.init()
    }

    override class func transformedValueClass() -> AnyClass { NSNumber.self }

    override class func allowsReverseTransformation() -> Bool { false }

    override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: (value == nil) == resultForNil) }
}
