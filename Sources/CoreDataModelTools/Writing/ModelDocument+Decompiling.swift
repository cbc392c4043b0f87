import CoreDataModel
import CoreDataPrimitives

extension ModelDocument {
    /// Returns a source document that could have been compiled to this document.
    ///
    /// Additions of the compiler are removed. Values that the compiler drops get the defaults of a new model in Xcode:
    /// entities are synchronised, numbers are scalars in generated classes, no class is generated.
    package func decompiled() -> ModelDocument {
        var document = namingComposites()
        document.appliesIndexDecodingQuirk = true
        document.origin = .written
        for index in document.entities.indices { document.entities[index].decompile() }
        for index in document.composites.indices {
            for position in document.composites[index].properties.indices {
                document.composites[index].properties[position].decompile()
            }
        }
        return document
    }

    /// Returns the document with a composite type for each composite attribute that has its own elements.
    package func namingComposites() -> ModelDocument {
        var document = self
        for index in entities.indices {
            for position in entities[index].properties.indices {
                let property = entities[index].properties[position]
                let name = entities[index].name + property.name.prefix(1).uppercased() + property.name.dropFirst()
                document.entities[index].properties[position] = document.namingComposite(of: property, name)
            }
        }
        return document
    }

    private mutating func namingComposite(of property: PropertyElement, _ name: String) -> PropertyElement {
        guard case .attribute(var attribute) = property.kind, attribute.type == .composite,
            attribute.compositeName == nil, !attribute.elements.isEmpty
        else { return property }
        var composite = CompositeElement(name: name)
        composite.properties = attribute.elements
        for index in composite.properties.indices {
            let element = composite.properties[index]
            composite.properties[index] = namingComposite(
                of: element, name + element.name.prefix(1).uppercased() + element.name.dropFirst())
        }
        var number = 2
        while composites.contains(where: { $0.name == composite.name && $0.properties != composite.properties }) {
            composite.name = "\(name)\(number)"
            number += 1
        }
        if !composites.contains(where: { $0.name == composite.name }) { composites.append(composite) }
        attribute.compositeName = composite.name
        attribute.elements = []
        var result = property
        result.kind = .attribute(attribute)
        return result
    }
}

extension EntityElement {
    fileprivate mutating func decompile() {
        isSyncable = true
        for index in properties.indices {
            properties[index].decompile()
            if impliesIndex(of: properties[index]) { properties[index].isIndexed = false }
        }
    }
}

extension PropertyElement {
    fileprivate mutating func decompile() {
        switch kind {
        case .attribute(var attribute):
            switch attribute.type.kind {
            case .integer, .boolean, .real, .single: attribute.usesScalarValueType = true
            case .date, .identifier: attribute.usesScalarValueType = false
            case .decimal, .text, .link, .bytes, .object, .reference, .composite: break
            }
            kind = .attribute(attribute)
        case .fetched(var request):
            request.name = "fetchedPropertyFetchRequest"
            kind = .fetched(request)
        case .relationship: break
        }
    }
}
