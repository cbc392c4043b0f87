import CoreDataModel
import CoreDataPrimitives
import Foundation

/// An attribute in a model declared in Swift.
///
///     ModelAttribute("title", .string, default: "").required()
///     ModelAttribute("rating", .integer16, default: 0).range(0...5)
///     ModelAttribute("cover", .binaryData).storedExternally()
///     ModelAttribute("booksCount", .integer64, derivedFrom: "books.@count")
///
/// A default of another type than the attribute's does not compile.
public struct ModelAttribute<Stored>: ModelProperty {
    /// The content of the declaration, in the form that all kinds of properties share.
    public var content: ModelPropertyContent

    /// - Parameters:
    ///   - name: the attribute's name, unique in its entity and the entity's ancestors.
    ///   - kind: the type of its values.
    ///   - value: the value of new objects; none by default.
    ///   - fileID: the file of the declaration, for messages; omit it.
    ///   - line: the line of the declaration; omit it.
    public init(
        _ name: String, _ kind: ModelAttributeKind<Stored>, default value: Stored? = nil, fileID: String = #fileID,
        line: Int = #line
    ) {
        var attribute = kind.attribute
        if let value { attribute.defaultValue = kind.convert(value) }
        content = ModelPropertyContent(name, .attribute(attribute), fileID: fileID, line: line)
    }

    /// The same with the default as model files spell it: `0.10`, `YES`, seconds since 2001 for a date.
    ///
    /// A text that is no value of the kind is an error of the model.
    public init(
        _ name: String, _ kind: ModelAttributeKind<Stored>, defaultText text: String, fileID: String = #fileID,
        line: Int = #line
    ) {
        var attribute = kind.attribute
        attribute.defaultValueText = text
        attribute.defaultValue = DefaultValue.value(text, type: attribute.type) ?? .null
        content = ModelPropertyContent(name, .attribute(attribute), fileID: fileID, line: line)
    }

    /// An attribute that the store computes: `books.@count`, `author.name`, `canonical:(title)`, `now()`.
    ///
    /// - Parameters:
    ///   - name: the attribute's name, unique in its entity and the entity's parents.
    ///   - kind: the type of its values.
    ///   - expression: what its value is.
    ///   - filter: a predicate over the objects that are counted or added up.
    ///   - fileID: the file of the declaration, for messages; leave it out.
    ///   - line: the line of the declaration; leave it out.
    public init(
        _ name: String, _ kind: ModelAttributeKind<Stored>, derivedFrom expression: String, where filter: String? = nil,
        fileID: String = #fileID, line: Int = #line
    ) {
        var attribute = kind.attribute
        attribute.derivationExpression = expression
        attribute.derivationFilter = filter
        content = ModelPropertyContent(name, .attribute(attribute), fileID: fileID, line: line)
    }

    /// Keeps the value in the store's history when its object is deleted.
    public func preservedAfterDeletion() -> Self { withAttribute { $0.preservesValueInHistoryOnDeletion = true } }

    /// Marks the value for encryption in a cloud.
    public func encryptedInCloud() -> Self { withAttribute { $0.allowsCloudEncryption = true } }

    /// Names a value transformer for a kind that needs none, as some of Xcode's models do.
    public func valueTransformer(_ name: String) -> Self { withAttribute { $0.valueTransformerName = name } }

    /// Names the class of the values of a kind that leaves it open.
    public func valueClass(_ name: String) -> Self { withAttribute { $0.customClassName = name } }

    fileprivate func withAttribute(_ change: (inout AttributeElement) -> Void) -> Self {
        with { property in
            guard case .attribute(var attribute) = property.kind else { return }
            change(&attribute)
            property.kind = .attribute(attribute)
        }
    }

    /// Adds bounds as predicates with Apple's error codes.
    fileprivate func bounded(minimum: String? = nil, maximum: String? = nil, pattern: String? = nil) -> Self {
        guard case .attribute(let attribute) = content.element.kind else { return self }
        return validated(
            ValidationBounds.validations(type: attribute.type, minimum: minimum, maximum: maximum, pattern: pattern)
                ?? [])
    }
}

extension ModelAttribute where Stored == Data {
    /// Large values live in files beside the store.
    public func storedExternally() -> Self { withAttribute { $0.allowsExternalBinaryDataStorage = true } }
}

extension ModelAttribute where Stored == NoDefault {
    /// Large values live in files beside the store.
    public func storedExternally() -> Self { withAttribute { $0.allowsExternalBinaryDataStorage = true } }
}

/// Swift types of attributes whose values have a minimum and a maximum: the numbers and dates.
public protocol ModelBound: Comparable {
    /// The value as a predicate spells it.
    var boundText: String { get }
}

extension Int16: ModelBound { public var boundText: String { description } }
extension Int32: ModelBound { public var boundText: String { description } }
extension Int64: ModelBound { public var boundText: String { description } }
extension Double: ModelBound { public var boundText: String { description } }
extension Float: ModelBound { public var boundText: String { description } }
extension Decimal: ModelBound { public var boundText: String { description } }
extension Date: ModelBound { public var boundText: String { timeIntervalSinceReferenceDate.description } }

extension ModelAttribute where Stored: ModelBound {
    /// A smaller value is an error when it is saved (1620, for a date 1640).
    public func minimum(_ value: Stored) -> Self { bounded(minimum: value.boundText) }

    /// A greater value is an error when it is saved (1610, for a date 1630).
    public func maximum(_ value: Stored) -> Self { bounded(maximum: value.boundText) }

    /// Both bounds at once.
    public func range(_ range: ClosedRange<Stored>) -> Self {
        bounded(minimum: range.lowerBound.boundText, maximum: range.upperBound.boundText)
    }
}

extension ModelAttribute where Stored == String {
    /// A shorter text is an error when it is saved (1670).
    public func minimumLength(_ length: Int) -> Self { bounded(minimum: String(length)) }

    /// A longer text is an error when it is saved (1660).
    public func maximumLength(_ length: Int) -> Self { bounded(maximum: String(length)) }

    /// Both bounds at once.
    public func length(_ range: ClosedRange<Int>) -> Self {
        bounded(minimum: String(range.lowerBound), maximum: String(range.upperBound))
    }

    /// A text that the regular expression does not match as a whole is an error when it is saved (1680).
    public func matching(_ regularExpression: String) -> Self { bounded(pattern: regularExpression) }
}
