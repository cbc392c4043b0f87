import CoreDataModel
import CoreDataPredicate
import Foundation

/// One of a property's validation predicates, and what to say of a value that breaks it.
package struct PropertyValidation {
    package let predicate: NSPredicate
    package let node: PredicateNode
    /// The error's code: the model's, else the one that ``ValidationCode`` derives.
    package let code: Int
    /// The model's own words, the key of their translation: `ErrorString/` and this.
    package let message: String?

    static func validations(of property: NSPropertyDescription) -> [PropertyValidation] {
        let type = (property as? NSAttributeDescription)?.attributeType.compiled ?? .undefined
        let warnings = property.validationWarnings
        return property.writtenPredicates.enumerated().map { position, written in
            let warning = position < warnings.count ? warnings[position] : nil
            let derived = ValidationCode.derive(from: written.node, type: type)
            if let code = warning as? NSNumber {
                return PropertyValidation(
                    predicate: written.predicate, node: written.node, code: code.intValue, message: nil)
            }
            let message = (warning as? String).flatMap { $0.isEmpty ? nil : $0 }
            return PropertyValidation(
                predicate: written.predicate, node: written.node, code: derived, message: message)
        }
    }
}
