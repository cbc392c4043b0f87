import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Checks types, defaults, bounds and value transformers.
extension ModelLinter {
    mutating func checkAttributes() {
        for property in declared {
            guard case .attribute(let attribute) = property.element.kind else { continue }
            checkStorage(attribute, property)
            checkTransformer(attribute, property)
            checkBounds(attribute, property)
            checkScalar(attribute, property)
        }
    }

    private func path(_ property: Declared) -> String { compilation.path(property.element, in: property.entity) }

    private mutating func checkStorage(_ attribute: AttributeElement, _ property: Declared) {
        guard attribute.allowsExternalBinaryDataStorage, ![.binaryData, .transformable].contains(attribute.type) else {
            return
        }
        report(
            .needlessExternalStorage,
            "attribute '\(path(property))' allows external storage, which a value of type \(attribute.type.displayName) "
                + "never uses", property.element, in: property.entity, hint: "remove allowsExternalBinaryDataStorage")
    }

    /// Transformers that decode objects of any class, which a manipulated store can exploit.
    private static let insecureTransformers: Set<String> = [
        "NSKeyedUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName", "NSUnarchiveFromData",
        "NSUnarchiveFromDataTransformerName",
    ]

    private mutating func checkTransformer(_ attribute: AttributeElement, _ property: Declared) {
        guard attribute.type == .transformable, !property.element.isTransient else { return }
        let name = attribute.valueTransformerName ?? ""
        if name.isEmpty {
            report(
                .transformableWithoutTransformer,
                "attribute '\(path(property))' is transformable without a value transformer, so any class is decoded",
                property.element, in: property.entity,
                hint: "set valueTransformerName to NSSecureUnarchiveFromData or a transformer of your own")
        } else if Self.insecureTransformers.contains(name) {
            report(
                .insecureTransformer, "attribute '\(path(property))' uses \(name), which decodes any class",
                property.element, in: property.entity, hint: "use NSSecureUnarchiveFromData or a subclass of it")
        }
    }

    // MARK: Bounds

    private mutating func checkBounds(_ attribute: AttributeElement, _ property: Declared) {
        var minimum: (subject: Substring, value: Double)?
        for validation in attribute.validations {
            guard let bound = Self.bound(validation.predicate) else { continue }
            if bound.sign == ">=" { minimum = (bound.subject, bound.value) }
            guard bound.sign == "<=", let minimum, minimum.subject == bound.subject, minimum.value > bound.value else {
                continue
            }
            report(
                .minimumAboveMaximum,
                "attribute '\(path(property))' has a minimum of \(PredicateText.number(minimum.value)), more than its "
                    + "maximum of \(PredicateText.number(bound.value)): no value is valid", property.element,
                in: property.entity, hint: "lower the minimum or raise the maximum")
        }
    }

    /// Parses `length >= 3`.
    private static func bound(_ predicate: String) -> (subject: Substring, sign: Substring, value: Double)? {
        let words = predicate.split(separator: " ")
        guard words.count == 3, words[1] == ">=" || words[1] == "<=", let value = Double(words[2]) else { return nil }
        return (words[0], words[1], value)
    }

    // MARK: Defaults

    /// Checks a scalar: without a value it reads as 0, so the missing value is noticed only when a save fails.
    private mutating func checkScalar(_ attribute: AttributeElement, _ property: Declared) {
        guard attribute.type.kind.isScalarNumber, attribute.usesScalarValueType == true, !property.element.isOptional,
            attribute.derivationExpression == nil, !property.element.isTransient,
            case .success(let value) = DefaultValue.of(attribute), value.isNull
        else { return }
        report(
            .scalarWithoutDefault,
            "attribute '\(path(property))' is a required scalar without default: it reads as 0 before it is set, but the "
                + "save fails", property.element, in: property.entity, hint: "set a default")
    }

    /// Reports values that a lightweight migration from the previous version cannot provide.
    mutating func checkMigration(from previous: ModelDocument) {
        guard let new = compilation.model, let old = try? ModelCompiler.compile(previous) else { return }
        let inference = MappingInference(
            ModelPairing(old: .init(old, document: previous), new: .init(new, document: document)))
        for obstacle in inference.obstacles where obstacle.kind == .requiredWithoutDefault {
            // Newly inherited properties are reported at their declaration.
            let names = obstacle.subject.split(separator: ".").map(String.init)
            guard names.count == 2, let entity = compilation.indexByName[names[0]],
                let slot = compilation.slotByName[entity][names[1]]
            else { continue }
            let property = compilation.slots[entity][slot]
            report(
                .requiredWithoutDefault,
                "attribute '\(obstacle.subject)' is required and has no default, which the version before "
                    + "(\(previous.name ?? "unnamed")) does not ask for: no lightweight migration can fill it",
                property.element, in: property.declarer, hint: "set a default, or make it optional")
        }
    }
}
