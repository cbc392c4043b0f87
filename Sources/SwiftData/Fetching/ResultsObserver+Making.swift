import Foundation

// The ways to make an observer: with a descriptor, or a filter and an order; in a context, or in a new one of a
// container.

extension ResultsObserver where SectionTitle == Never {
    /// Observes the models of a context.
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the descriptor.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, nil, modelContext)
    }

    /// Observes in a new context of the container.
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the descriptor.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, nil, ModelContext(modelContainer))
    }

    /// Observes the models of a context.
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the filter and the order.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil, modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), nil, modelContext)
    }

    /// Observes in a new context of the container.
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the filter and the order.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), nil, ModelContext(modelContainer))
    }
}

extension ResultsObserver where SectionTitle == String {
    /// Observes the models of a context, in sections by a property.
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the descriptor.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), sectionBy: KeyPath<Element, String>,
        modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, sectionBy, modelContext)
    }

    /// Observes in a new context of the container, in sections by a property.
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the descriptor.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), sectionBy: KeyPath<Element, String>,
        modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, sectionBy, ModelContext(modelContainer))
    }

    /// Observes the models of a context, in sections by a property.
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the filter and the order.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String>, modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), sectionBy, modelContext)
    }

    /// Observes in a new context of the container, in sections by a property.
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the filter and the order.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), sectionBy, ModelContext(modelContainer))
    }

    /// Observes the models of a context, in sections by a property; models without a value are in the section "".
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the descriptor.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), sectionBy: KeyPath<Element, String?>,
        modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, sectionBy, modelContext)
    }

    /// Observes in a new context of the container, in sections by a property; models without a value are in the section
    /// "".
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the descriptor.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), sectionBy: KeyPath<Element, String?>,
        modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, sectionBy, ModelContext(modelContainer))
    }

    /// Observes the models of a context, in sections by a property; models without a value are in the section "".
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the filter and the order.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String?>, modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), sectionBy, modelContext)
    }

    /// Observes in a new context of the container, in sections by a property; models without a value are in the section
    /// "".
    ///
    /// - Throws: what `ModelContext.fetch(_:)` throws for the filter and the order.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String?>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), sectionBy, ModelContext(modelContainer))
    }
}
