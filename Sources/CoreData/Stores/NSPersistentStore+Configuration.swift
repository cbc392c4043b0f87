extension NSPersistentStore {
    /// The name of the configuration for opening the store again; `nil` for the one with all entities.
    package final var openingConfiguration: String? {
        configurationName == Self.defaultConfigurationName ? nil : configurationName
    }
}
