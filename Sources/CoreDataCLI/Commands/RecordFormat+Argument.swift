import ArgumentParser

extension RecordFormat: ExpressibleByArgument {}
