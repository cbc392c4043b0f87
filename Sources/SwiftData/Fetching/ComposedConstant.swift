import CoreDataPredicate
import CoreDataPrimitives

/// Converts constants of predicates whose values are enumerations and structs to dictionaries of their elements.
enum ComposedConstant {
    /// The elements of a value that composite attributes hold; `nil` for a value of another type.
    ///
    /// An enumeration with a raw value has one element, without a name: it is called as the property is.
    static func constant(_ value: Any, _ element: (Any?) -> Constant) -> Constant? {
        guard let form = try? AttributeForm(of: type(of: value), at: AttributeForm.Place(name: "")),
            let names = form.elementNames(at: []),
            let encoded = (try? form.encode(value)).flatMap({ AttributeForm.elements($0) })
        else { return nil }
        return dictionary(names, encoded, form, [], element)
    }

    private static func dictionary(
        _ names: [String], _ values: [String: Any], _ form: AttributeForm, _ path: [String],
        _ element: (Any?) -> Constant
    ) -> Constant {
        .dictionary(
            names.map { name in
                let inner = path + [name]
                if let nested = form.elementNames(at: inner[...]) {
                    let values = AttributeForm.elements(values[name]) ?? [:]
                    return (.value(.string(name)), dictionary(nested, values, form, inner, element))
                }
                return (.value(.string(name)), element(values[name]))
            })
    }
}

extension AttributeForm {
    /// Returns the names of the elements of a composite, or of a composite at a path inside it; `nil` if there is none.
    func elementNames(at path: ArraySlice<String>) -> [String]? {
        guard case .composite(let elements) = kind else { return nil }
        guard let first = path.first else { return elements.map(\.name) }
        return elements.first { $0.name == first }?.form.elementNames(at: path.dropFirst())
    }
}
