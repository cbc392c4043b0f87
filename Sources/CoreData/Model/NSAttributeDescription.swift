import CoreDataModel
import CoreDataPrimitives
import Foundation

/// A description of an attribute: a value of one type that each object of the entity has.
///
///     let title = NSAttributeDescription()
///     title.name = "title"
///     title.type = .string
///     title.isOptional = false
///     book.properties = [title]
open class NSAttributeDescription: NSPropertyDescription {
    private var storedType = NSAttributeType.undefinedAttributeType
    private var storedValueClassName: String?
    private var storedDefaultValue: Any?
    private var storedValueTransformerName: String?
    private var storedAllowsExternalStorage = false
    private var storedPreservesValue = false
    private var storedAllowsCloudEncryption = false

    /// The type of the values. Undefined at first, which only a transient attribute may stay.
    open var attributeType: NSAttributeType {
        get { storedType }
        set {
            willChange("attributeType")
            storedType = newValue
        }
    }

    /// The type of the values, in the short spelling.
    public var type: AttributeType {
        get { AttributeType(rawValue: attributeType) }
        set { attributeType = newValue.rawValue }
    }

    /// The class of the values by Apple's name, such as `NSString`; set it for a transformable attribute.
    open var attributeValueClassName: String? {
        get { storedValueClassName ?? storedType.valueClassName }
        set {
            willChange("attributeValueClassName")
            storedValueClassName = newValue
        }
    }

    /// The value that a new object has. It has to fit the attribute's type when the model is first used.
    open var defaultValue: Any? {
        get { storedDefaultValue }
        set {
            willChange("defaultValue")
            storedDefaultValue = newValue
        }
    }

    /// The name under which a transformable attribute's `ValueTransformer` is registered.
    ///
    /// Without a name values are archived by `NSKeyedArchiver`.
    open var valueTransformerName: String? {
        get { storedValueTransformerName }
        set {
            willChange("valueTransformerName")
            storedValueTransformerName = newValue
        }
    }

    /// Whether the store may keep big values in files of their own; for binary data.
    open var allowsExternalBinaryDataStorage: Bool {
        get { storedAllowsExternalStorage }
        set {
            willChange("allowsExternalBinaryDataStorage")
            storedAllowsExternalStorage = newValue
        }
    }

    /// Whether the history keeps the value of a deleted object, in its tombstone.
    ///
    /// For a composite attribute the tombstone keeps all elements. Elements are in a dictionary under the composite's
    /// name, also if only one element is kept:
    ///
    ///     change.tombstone?["address"]     // ["city": "Oslo", "zip": 150]
    open var preservesValueInHistoryOnDeletion: Bool {
        get { storedPreservesValue }
        set {
            willChange("preservesValueInHistoryOnDeletion")
            storedPreservesValue = newValue
        }
    }

    /// Whether a cloud may hold the value encrypted; kept for the model file, without effect here.
    open var allowsCloudEncryption: Bool {
        get { storedAllowsCloudEncryption }
        set {
            willChange("allowsCloudEncryption")
            storedAllowsCloudEncryption = newValue
        }
    }

    /// The class name that was set, without the one that the type implies.
    final var givenValueClassName: String? { storedValueClassName }

    /// The engine's kind of the values.
    package final var kind: ValueKind { storedType.compiled.kind }

    // MARK: - Copying and equality

    override func makeEmpty() -> NSPropertyDescription { NSAttributeDescription() }

    override func adopt(_ other: NSPropertyDescription) {
        super.adopt(other)
        guard let other = other as? NSAttributeDescription else { return }
        storedType = other.storedType
        storedValueClassName = other.storedValueClassName
        storedDefaultValue = other.storedDefaultValue
        storedValueTransformerName = other.storedValueTransformerName
        storedAllowsExternalStorage = other.storedAllowsExternalStorage
        storedPreservesValue = other.storedPreservesValue
        storedAllowsCloudEncryption = other.storedAllowsCloudEncryption
    }

    override func hasEqualContent(to other: NSPropertyDescription) -> Bool {
        guard super.hasEqualContent(to: other), let other = other as? NSAttributeDescription else { return false }
        return storedType == other.storedType
            && attributeValueClassName == other.attributeValueClassName
            && storedValueTransformerName == other.storedValueTransformerName
            && storedAllowsExternalStorage == other.storedAllowsExternalStorage
            && storedPreservesValue == other.storedPreservesValue
            && storedAllowsCloudEncryption == other.storedAllowsCloudEncryption
            && ContentEquality.areEqual(storedDefaultValue, other.storedDefaultValue)
    }
}
