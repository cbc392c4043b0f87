import CoreDataModel

extension SchemaLayout {
    /// Why a store of this layout cannot keep a derived attribute; `nil` if it can, or if it is not derived.
    package func derivationProblem(of property: CompiledProperty, in entity: CompiledEntity) -> String? {
        guard let expression = property.attribute?.derivationExpression else { return nil }
        do {
            _ = try DerivedAttribute(schema: self, entity: entity, property: property, expression: expression)
            return nil
        } catch {
            return (error as? StoreFailure)?.message ?? "\(error)"
        }
    }
}
