import CoreDataPrimitives

extension ModelDocument {
    /// Returns the indexes of an entity in a store, in Apple's order: those of marked attributes, the listed ones, then
    /// the compound indexes of models from before index lists.
    ///
    ///     <attribute name="name" indexed="YES"/>, <compoundIndex> name, date     // name; name_date
    ///     <fetchIndex name="byName"> name                                        // name, byName
    func storedIndexes(of entity: EntityElement) -> [FetchIndexElement] {
        let listed = markedIndexes(of: entity) + entity.fetchIndexes
        let compound = entity.compoundIndexes.filter { names in
            !listed.contains { $0.elements.map(\.listedName) == names }
        }.map { names in
            var index = FetchIndexElement(name: names.joined(separator: "_"))
            index.elements = names.map { name in
                rowPart(listed: name, of: entity).map { .init(expression: $0.rawValue) } ?? .init(propertyName: name)
            }
            return index
        }
        return listed + compound
    }

    /// Returns the part of a row that a compound index list names, if no property has that name.
    func rowPart(listed name: String, of entity: EntityElement) -> IndexedRowPart? {
        guard let part = IndexedRowPart(expression: name), !entity.properties.contains(where: { $0.name == name }),
            !inheritedPropertyNames(of: entity).contains(name)
        else { return nil }
        return part
    }

    /// Returns whether an archive marks the property as indexed: by the old flag, or because it is the only and
    /// ascending element of an index, as the compiler does.
    func isIndexed(_ property: PropertyElement, of entity: EntityElement) -> Bool {
        property.isIndexed || appliesIndexDecodingQuirk && entity.impliesIndex(of: property)
    }

    /// Returns an index for each marked attribute, named after it.
    private func markedIndexes(of entity: EntityElement) -> [FetchIndexElement] {
        if origin == .cached && !entity.fetchIndexes.isEmpty { return [] }
        let marked = entity.properties.filter { property in
            guard case .attribute = property.kind, !property.isTransient else { return false }
            return isIndexed(property, of: entity) && !entity.fetchIndexes.contains { $0.name == property.name }
        }.map(\.name)
        if marked.isEmpty { return [] }
        let names = Set(marked).subtracting(inheritedPropertyNames(of: entity))
        // Old models sort their indexes; with index lists, decoding adds each index when it reads the attribute.
        let order =
            entity.fetchIndexes.isEmpty
            ? marked.sorted(by: NameOrder.ignoringCase) : DictionaryOrder.archived(entity.properties.map(\.name))
        return order.filter(names.contains).map { name in
            var index = FetchIndexElement(name: name)
            index.elements = [.init(propertyName: name)]
            return index
        }
    }

    private func inheritedPropertyNames(of entity: EntityElement) -> Set<String> {
        var names: Set<String> = []
        var visited: Set<String> = [entity.name]
        var parent = entity.parentName
        while let name = parent, visited.insert(name).inserted,
            let ancestor = entities.first(where: { $0.name == name })
        {
            names.formUnion(ancestor.properties.map(\.name))
            parent = ancestor.parentName
        }
        return names
    }
}

extension EntityElement {
    /// Returns whether compiling marks the property as indexed because of a fetch index.
    package func impliesIndex(of property: PropertyElement) -> Bool {
        guard !property.isRelationship else { return false }
        return fetchIndexes.contains { index in
            index.elements.count == 1 && index.elements[0].propertyName == property.name
                && index.elements[0].isAscending && !index.elements[0].isRTree
        }
    }
}
