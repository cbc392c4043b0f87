import CoreDataModel
import CoreDataPrimitives
import Foundation

extension NSManagedObject {
    /// Checks the values that the elements of a composite attribute get when it is set, by the model's rules.
    final func validateElements(of value: Any?, _ slot: Int, _ errors: inout [any Error]) {
        let elements: [CompositeValues.Element]
        do { elements = try CompositeValues.elements(of: value, slot: slot, in: runtime) } catch {
            errors.append(CoreDataErrors.make(NSManagedObjectValidationError, error.message))
            return
        }
        let values = Dictionary(elements.map { ($0.slot, $0.value) }, uniquingKeysWith: { first, _ in first })
        func isNil(_ slot: Int) -> Bool {
            let info = runtime.slots[slot]
            return (info.kind == .composite ? info.leaves : [slot]).allSatisfy { values[$0]?.isNull ?? true }
        }
        // A mandatory element needs a value only if its composite has one.
        for mandatory in runtime.validation.mandatory where isNil(mandatory) && isPart(mandatory, of: slot) {
            if mandatory == slot || !(runtime.slots[mandatory].property.composite.map(isNil) ?? true) {
                errors.append(ValidationErrors.missing(runtime.slots[mandatory].name, of: self))
            }
        }
        for (element, value) in elements where !value.isNull { validate(value, ofElement: element, &errors) }
    }

    /// Whether a slot is a composite's, or in one that is in it.
    private final func isPart(_ part: Int, of slot: Int) -> Bool {
        var current: Int? = part
        while let place = current {
            if place == slot { return true }
            current = runtime.slots[place].property.composite
        }
        return false
    }
}
