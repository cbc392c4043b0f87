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

    /// Sees that a database whose columns have types can keep every derived attribute.
    ///
    /// - Throws: ``StoreFailure`` that names the first that it cannot.
    func checkTypesOfDerivations() throws {
        for ordinal in entities {
            let entity = model.entities[ordinal]
            for property in entity.properties where property.declaringEntity == ordinal {
                guard let text = property.attribute?.derivationExpression else { continue }
                try DerivationParser(schema: self, entity: entity, property: property, text: text).checkTypes()
            }
        }
    }

    /// Why a store of this layout cannot have an index for some rows only; `nil` if it can, or if it is for all.
    package func indexProblem(of index: CompiledFetchIndex, in entity: CompiledEntity) -> String? {
        guard let predicate = index.predicate else { return nil }
        let condition = PartialIndexCondition(entity: entity, index: index.name) { name in
            entity.slotByName[name].flatMap { slot in
                let isAttribute = entity.properties[slot].attribute != nil
                return columnName(
                    entity: entity.ordinal, role: isAttribute ? .attribute(slot: slot) : .destinationKey(slot: slot))
            }
        }
        do {
            _ = try condition.condition(of: predicate)
            return nil
        } catch {
            return (error as? StoreFailure)?.message ?? "\(error)"
        }
    }
}
