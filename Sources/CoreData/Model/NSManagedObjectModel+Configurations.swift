import CoreDataModel
import Foundation

extension NSManagedObjectModel {
    /// The names of the configurations, sorted; the default one, which has all entities, is not among them.
    public var configurations: [String] { configurationMembers.keys.sorted() }

    /// The entities of a configuration: all for `nil`, `nil` for a name that the model does not have.
    public func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration, configuration != Self.defaultConfigurationName else { return entities }
        return configurationMembers[configuration]
    }

    /// Makes a configuration of some of the model's entities, for a store that holds only those.
    ///
    ///     model.setEntities([book, author], forConfigurationName: "Catalogue")
    public func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        willChange("configuration '\(configuration)'")
        for entity in entities where entity.model !== self {
            fatalError(
                "Entity '\(entity.name ?? "")' cannot be in configuration '\(configuration)': it is not in the model. "
                    + "Add it to the model's entities first.")
        }
        configurationMembers[configuration] = entities
    }

    /// The name that a store has for the configuration with all entities.
    static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"
}
