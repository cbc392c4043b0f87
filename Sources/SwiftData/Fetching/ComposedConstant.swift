import CoreDataPredicate
import CoreDataPrimitives

/// The constants of predicates whose values are enumerations and structs: a dictionary of their elements.
enum ComposedConstant {
    /// The elements of a value that composite attributes hold; `nil` for a value of another type.
    ///
    /// An enumeration with a raw value has one element, without a name: it is called as the property is.
    static func constant(_ value: Any, _ element: (Any?) -> Constant) -> Constant? {
        if let raw = value as? any RawRepresentable {
            return .dictionary([(key: .value(.string("")), value: element(raw.rawValue))])
        }
        guard let form = try? AttributeForm.form(of: type(of: value), named: ""),
            let names = form.elementNames(at: []),
            let encoded = try? form.encode(value) as? [String: Any]
        else { return nil }
        return dictionary(names, encoded, form, [], element)
    }

    private static func dictionary(
        _ names: [String], _ values: [String: Any], _ form: AttributeForm, _ path: [String], _ element: (Any?) -> Constant
    ) -> Constant {
        .dictionary(
            names.map { name in
                let inner = path + [name]
                if let nested = form.elementNames(at: inner[...]) {
                    let values = values[name] as? [String: Any] ?? [:]
                    return (.value(.string(name)), dictionary(nested, values, form, inner, element))
                }
                return (.value(.string(name)), element(values[name]))
            })
    }
}
