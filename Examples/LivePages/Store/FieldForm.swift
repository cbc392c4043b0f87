import Foundation

/// A field of an editor, named as its form sends it.
package protocol FormField: RawRepresentable<String>, CaseIterable, Hashable, Sendable where AllCases: Sendable {
    var label: String { get }
}

/// The values typed into an editor, and those that it showed at first: so that two people who change one object hear of each
/// other.
package struct FieldForm<Field: FormField>: Sendable {
    /// As it was typed; of a switch "1" or nothing.
    package var values: [Field: String]
    /// The values that the editor was opened with; a field that is as it was is not saved.
    package var original: [Field: String]

    package init(values: [Field: String]) {
        self.values = values
        original = values
    }

    /// Reads a form that was sent.
    package init(_ form: Form) {
        values = [:]
        original = [:]
        for field in Field.allCases {
            values[field] = form[field.rawValue] ?? ""
            original[field] = form["was-\(field.rawValue)"]
        }
    }

    package func value(_ field: Field) -> String { values[field] ?? "" }

    /// The fields that both this user and another one changed, with the other user's values.
    package func conflicts(with present: FieldForm) -> [Field: String] {
        var conflicts: [Field: String] = [:]
        for field in Field.allCases {
            let theirs = present.value(field)
            guard let before = original[field], before != theirs, before != value(field), theirs != value(field) else {
                continue
            }
            conflicts[field] = theirs
        }
        return conflicts
    }

    /// Takes what the object has now where nothing was typed, and compares with it from now on.
    package mutating func follow(_ present: FieldForm) {
        takeUntouched(from: present)
        original = present.values
    }

    /// Takes what the object has now where nothing was typed.
    package mutating func takeUntouched(from present: FieldForm) {
        for field in Field.allCases where original[field] == value(field) { values[field] = present.value(field) }
    }

    /// Takes the other user's values.
    package mutating func take(_ field: Field, from present: FieldForm) {
        values[field] = present.value(field)
        original[field] = present.value(field)
    }
}
