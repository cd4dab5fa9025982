extension ServiceInterface {
    /// This interface in the interface definition language.
    package static let text = """
        # Who the service is, and what its interfaces are; every Varlink service has this.
        interface org.varlink.service

        # The service, and the names of its interfaces.
        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        # The text of an interface.
        method GetInterfaceDescription(interface: string) -> (description: string)

        # There is no such interface here.
        error InterfaceNotFound (interface: string)

        # The interface has no such method.
        error MethodNotFound (method: string)

        # The interface has the method, and the service does not offer it.
        error MethodNotImplemented (method: string)

        # A parameter is missing, unknown, or not of its type. reason: what it must be, behind its name.
        error InvalidParameter (parameter: string, reason: ?string)

        # The caller may not do this. reason: what was denied, and who may do it.
        error PermissionDenied (reason: ?string)

        # The method only streams, and the call did not ask for more.
        error ExpectedMore ()

        """
}
