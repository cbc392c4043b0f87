import Testing

@testable import CoreData

/// What a class's table of methods says of it; the layout is the compiler's, so each answer is checked.
@Suite struct ClassOverridesTests {
    private class Plain: NSManagedObject {
        var note = ""
        override func awakeFromInsert() { note = "new" }
    }

    private class Validating: NSManagedObject {
        override func validateValue(
            _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
        ) throws {}
    }

    private final class ValidatingBelow: Validating {
        var note = ""
    }

    private final class Forgiving: Plain {
        override func value(forUndefinedKey key: String) -> Any? { nil }
    }

    @Test func onlyOverridesOfTheMethodCount() {
        let classes: [(NSManagedObject.Type, validates: Bool, forgives: Bool)] = [
            (NSManagedObject.self, false, false), (Plain.self, false, false), (Validating.self, true, false),
            (ValidatingBelow.self, true, false), (Forgiving.self, false, true),
        ]
        for (type, validates, forgives) in classes {
            #expect(ClassOverrides.overridesValidateValue(type) == validates, "\(type)")
            #expect(ClassOverrides.overridesUndefinedKey(type) == forgives, "\(type)")
        }
    }
}
