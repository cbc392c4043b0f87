import CoreDataModel

extension SchemaLayout {
    /// Returns why a store with this layout cannot store a derived attribute; `nil` if it can, or if it is not derived.
    package func derivationProblem(of property: CompiledProperty, in entity: CompiledEntity) -> String? {
        guard let expression = property.attribute?.derivationExpression else { return nil }
        do {
            _ = try DerivedAttribute(schema: self, entity: entity, property: property, expression: expression)
            return nil
        } catch {
            return (error as? StoreFailure)?.message ?? "\(error)"
        }
    }

    /// Checks that a database with typed columns can store every derived attribute.
    ///
    /// - Throws: ``StoreFailure`` that names the first one that it cannot store.
    func checkTypesOfDerivations() throws {
        for ordinal in entities {
            let entity = model.entities[ordinal]
            for property in entity.properties where property.declaringEntity == ordinal {
                guard let text = property.attribute?.derivationExpression else { continue }
                try DerivationParser(schema: self, entity: entity, property: property, text: text).checkTypes()
            }
        }
    }

    /// Returns why a store with this layout cannot have a partial index; `nil` if it can, or if the index is not
    /// partial.
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
