extension ModelDocument {
    /// Returns the document with everything sorted by name whose order has no meaning.
    ///
    /// Fetch indexes and constraints keep their order: their statements in a store have the same order.
    package func ordered() -> ModelDocument {
        var document = self
        for index in document.entities.indices { document.entities[index].properties.sort(by: PropertyElement.precede) }
        document.entities.sort { NameOrder.ignoringCase($0.name, $1.name) }
        document.composites.sort { NameOrder.ignoringCase($0.name, $1.name) }
        document.fetchRequests.sort { NameOrder.ignoringCase($0.name, $1.name) }
        for index in document.configurations.indices {
            document.configurations[index].entityNames.sort(by: NameOrder.ignoringCase)
        }
        document.configurations.sort { NameOrder.ignoringCase($0.name, $1.name) }
        document.diagram.sort { NameOrder.ignoringCase($0.name, $1.name) }
        return document
    }
}

extension PropertyElement {
    /// Orders attributes before relationships before fetched properties, each kind by name.
    fileprivate static func precede(_ a: PropertyElement, _ b: PropertyElement) -> Bool {
        let ranks = (a.kindRank, b.kindRank)
        return ranks.0 == ranks.1 ? NameOrder.ignoringCase(a.name, b.name) : ranks.0 < ranks.1
    }

    private var kindRank: Int {
        switch kind {
        case .attribute: 0
        case .relationship: 1
        case .fetched: 2
        }
    }
}
