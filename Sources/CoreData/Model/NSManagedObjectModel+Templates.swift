import Foundation

extension NSManagedObjectModel {
    /// The fetch requests that the model keeps, by name. Copy one before you change it.
    public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] { templates }

    /// The model's own request of that name. Copy it before you change it.
    public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
        templates[name]
    }

    /// Keeps a request under a name; `nil` removes it.
    public func setFetchRequestTemplate(
        _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
    ) {
        willChange("fetch request template '\(name)'")
        templates[name] = fetchRequestTemplate
        bindTemplates()
    }

    /// A copy of the request of that name with values in place of the variables of its predicate.
    ///
    ///     // template "byAuthor": author.name == $NAME
    ///     model.fetchRequestFromTemplate(withName: "byAuthor", substitutionVariables: ["NAME": "Ibsen"])
    ///     // author.name == "Ibsen"
    ///
    /// `NSNull()` stands for nil. Variables without a value stay in the predicate.
    public func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        guard let template = templates[name] else { return nil }
        let request = NSFetchRequest<any NSFetchRequestResult>(template)
        request.predicate = request.predicate.map { $0.withSubstitutionVariables(variables) }
        return request
    }
}
