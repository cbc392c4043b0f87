import CoreData
import CoreDataModel
import Foundation

/// A composite attribute in which SwiftData keeps an enumeration without associated values.
///
/// | Enumeration | Elements | Value |
/// | --- | --- | --- |
/// | with raw values | one of the attribute's name | the raw value |
/// | without | one for each case | the case's name, in the element of that name |
package struct StoredEnumeration {
    private let composite: NSCompositeAttributeDescription

    /// `nil` for an attribute whose user info does not say that it is an enumeration.
    package init?(_ attribute: NSAttributeDescription) {
        guard let composite = attribute as? NSCompositeAttributeDescription,
            let mark = composite.userInfo?["EnumType"], ["1", "true", "YES"].contains("\(mark)")
        else { return nil }
        self.composite = composite
    }

    /// The element that has the raw value; `nil` for an enumeration without raw values.
    package var rawValue: NSAttributeDescription? {
        guard composite.elements.count == 1, let element = composite.elements.first, element.name == composite.name
        else { return nil }
        return element
    }

    /// The names of the cases; none for an enumeration with raw values.
    package var cases: [String] { rawValue == nil ? composite.elements.map(\.name) : [] }

    /// The element that has the value; `nil` where the elements are not those of one case.
    package func element(in values: [String: Any]) -> NSAttributeDescription? {
        let found = composite.elements.filter { values[$0.name].map { !($0 is NSNull) } ?? false }
        guard found.count == 1, let element = found.first else { return nil }
        if rawValue != nil { return element }
        return values[element.name] as? String == element.name ? element : nil
    }

    /// The elements of a case; `nil` for a name that none has.
    package func elements(ofCase name: String) -> [String: Any]? { cases.contains(name) ? [name: name] : nil }
}
