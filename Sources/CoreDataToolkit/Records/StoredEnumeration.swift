import CoreData
import CoreDataModel
import Foundation

/// A composite attribute in which SwiftData stores an enumeration without associated values.
///
/// | Enumeration | Elements | Value |
/// | --- | --- | --- |
/// | with raw values | one with the attribute's name | the raw value |
/// | without raw values | one for each case | the case's name, in the element with that name |
package struct StoredEnumeration {
    private let composite: NSCompositeAttributeDescription

    /// Makes it from an attribute; fails if the user info does not declare an enumeration.
    package init?(_ attribute: NSAttributeDescription) {
        guard let composite = attribute as? NSCompositeAttributeDescription,
            let mark = composite.userInfo?["EnumType"], ["1", "true", "YES"].contains("\(mark)")
        else { return nil }
        self.composite = composite
    }

    /// The element with the raw value; `nil` for an enumeration without raw values.
    package var rawValue: NSAttributeDescription? {
        guard composite.elements.count == 1, let element = composite.elements.first, element.name == composite.name
        else { return nil }
        return element
    }

    /// The names of the cases; none for an enumeration with raw values.
    package var cases: [String] { rawValue == nil ? composite.elements.map(\.name) : [] }

    /// The user info key under which this framework's SwiftData stores the raw values, as the text of a JSON array.
    /// Apple's stores none.
    private static let rawValuesKey = "rawValues"

    /// The values of all cases that the model contains: each case of an enumeration without raw values; otherwise the
    /// raw values in the user info, or else the default.
    package var values: [[String: Any]] {
        guard let element = rawValue else { return cases.map { [$0: $0] } }
        var raw: [Any] = []
        if let text = composite.userInfo?[Self.rawValuesKey] as? String,
            case .list(let fields)? = FieldValue(json: Data(text.utf8))
        {
            raw = fields.compactMap { try? AttributeText(attribute: element).value($0) }
        }
        if raw.isEmpty { raw = [element.defaultValue].compactMap { $0 } }
        return raw.map { [element.name: $0] }
    }

    /// Returns the element with a value; `nil` if the elements do not represent exactly one case.
    package func element(in values: [String: Any]) -> NSAttributeDescription? {
        let found = composite.elements.filter { values[$0.name].map { !($0 is NSNull) } ?? false }
        guard found.count == 1, let element = found.first else { return nil }
        if rawValue != nil { return element }
        return values[element.name] as? String == element.name ? element : nil
    }

    /// Returns the elements of a case; `nil` for an unknown name.
    package func elements(ofCase name: String) -> [String: Any]? { cases.contains(name) ? [name: name] : nil }
}
