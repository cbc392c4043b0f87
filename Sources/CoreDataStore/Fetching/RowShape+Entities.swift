extension RowShape {
    /// Makes the shape of an entity's rows, and of those of its subentities if they are included.
    init(of entity: Int, _ includesSubentities: Bool, _ context: QueryContext) throws {
        _ = try context.table(of: entity)
        let candidates = includesSubentities ? context.model.entities[entity].subtree : [entity]
        self.init(candidates.filter { context.layout.entities[$0] != nil }, context.model, context.layout)
    }
}
